# SPDX-License-Identifier: GPL-3.0-or-later

function __dos_command --description 'is this the command?'
	set -l before (commandline -opc)
	test (count $before) -ge 2; and test $before[2] = $argv[1]
end

function __dos_words --description 'is the first word after the command at hand?'
	set -l before (commandline -opc)
	test (count $before) -eq 2; and test $before[2] = $argv[1]
end

# Ends of a list a,b,c: what is before the last comma stays.
function __dos_list
	set -l head (string match -r '.*,' -- (string replace -r '^--[a-z-]+=' '' -- (commandline -ct)))
	printf '%s\n' "$head"$argv
end

# name:option=value,option=value,name..
function __dos_policy
	set -l current (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))
	set -l part (string replace -r '.*[,:]' '' -- $current)
	set -l head (string sub -l (math (string length -- $current) - (string length -- $part)) -- $current)
	set -l name
	set -l tokens (string split , -- $current)
	for i in (seq (count $tokens))
		if string match -q '*:*' -- $tokens[$i]
			set name (string replace -r ':.*' '' -- $tokens[$i])
		else if not string match -q '*=*' -- $tokens[$i]; and test $i -lt (count $tokens)
			set name $tokens[$i]
		end
	end
	if string match -q '*=*' -- $part
		set -l option (string replace -r '=.*' '' -- $part)
		printf "$head$option=%s\n" (__dos_policy_values $name $option)
		return
	end
	test -n "$name"; and printf "$head%s\n" (__dos_policy_options $name)
	string match -q '*:' -- $head; or printf "$head%s\n" (__dos_policies)
end
