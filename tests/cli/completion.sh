# SPDX-License-Identifier: GPL-3.0-or-later
# Completion as bash, zsh and fish give it; every command, option and word is in it. Shells that are not installed are left out.
set -e
exec 2>&1
dos completion bash >dos.bash
dos completion zsh >_dos
dos completion fish >dos.fish
lines=('dos pl' 'dos simulate --sy' 'dos simulate --sync ' 'dos simulate --sync=p' 'dos simulate --hw dgx-h' 'dos sweep --hw gh200,dgx-h' 'dos model --model llama3'
	'dos simulate --contention ' 'dos list pr' 'dos db ' 'dos plot str' 'dos validate --set pub' 'dos simulate --policy zero' 'dos simulate --policy dos:ch'
	'dos simulate --policy dos:chain=' 'dos simulate --policy dos:stride=2,bu' 'dos sweep --policy=dos:stride=2,chain=d' 'dos simulate --policy gpu-only,twinflow:mode='
	'dos simulate --scale dr' 'dos sweep --checkpointing o' 'dos check-config my' 'dos simulate --trace my' 'dos completion ')
touch my-file

# bash gives what is behind the last ':' or '='
in_bash() {
	bash --norc -c '
		source ./dos.bash
		IFS=" " read -ra COMP_WORDS <<<"$1"
		[[ $1 != *" " ]] || COMP_WORDS+=("")
		COMP_LINE=$1 COMP_POINT=${#1} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_dos dos
		printf "%s\n" "${COMPREPLY[@]}"' - "$1"
}
for line in "${lines[@]}"; do
	echo "$line: $(in_bash "$line" | sort | tr '\n' ' ')"
done

# the others give whole words: compared with those of the function that bash and zsh share
whole() {
	local current=${1##* } before
	read -ra before <<<"${1%"$current"}"
	bash --norc -c 'source ./dos.bash; __dos_candidates "$@"' - "${before[1]}" "${before[-1]}" "$current" ${#before[@]} | cut -f 1 | sed 's/^@file$/my-file/' |
		{ grep -F -- "$current" || true; } | grep "^$current" | sort -u | tr '\n' ' '
}
if command -v zsh >/dev/null; then
	zsh -f -c 'for line in "$@"; do
		current=${line##* } before=(${=line%"$current"})
		print -r -- "$line: $( (source ./_dos 2>/dev/null; __dos_candidates "$before[2]" "$before[-1]" "$current" $#before) | cut -f 1)" | tr "\n" " "
		print
	done' - "${lines[@]}" >zsh.out
	bash --norc -c 'for line in "$@"; do
		current=${line##* }
		read -ra before <<<"${line%"$current"}"
		echo "$line: $( (source ./dos.bash; __dos_candidates "${before[1]}" "${before[-1]}" "$current" ${#before[@]}) | cut -f 1)" | tr "\n" " "
		echo
	done' - "${lines[@]}" >bash.out
	diff bash.out zsh.out
fi
if command -v fish >/dev/null; then
	for line in "${lines[@]}"; do
		case $line in *my) continue ;; esac # fish asks for files itself
		got=$(HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD fish -N -c 'source dos.fish; complete -C $argv[1]' "$line" | cut -f 1 | sort -u | tr '\n' ' ')
		[ "$got" = "$(whole "$line")" ] || printf 'fish: %s: %s, %s expected\n' "$line" "$got" "$(whole "$line")"
	done
fi

# nothing is missing
for command in $(dos --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
	for script in dos.bash _dos dos.fish; do
		grep -q "[[:blank:]]$command " $script || echo "$script lacks $command"
	done
	for option in $(dos "$command" --help | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
		sed -n '/^__dos_options/,/^}/p' dos.bash | sed -n "/^	$command)/,/;;/p" | grep -q -- "$option " || echo "dos.bash lacks $command $option"
		grep -q "__dos_command $command' -l ${option#--} " dos.fish || echo "dos.fish lacks $command $option"
	done
	# the words that a usage starts with
	for word in $(dos "$command" --help | head -n 1 | grep -oE "^usage: dos $command [a-z-]+(\|[a-z-]+)+" | sed 's/.* //' | tr '|' ' '); do
		sed -n '/^__dos_words/,/^}/p' dos.bash | grep "^	$command)" | grep -q "'$word'" || echo "dos.bash lacks $command $word"
	done
done
dos completion sh || echo "exit $?"
dos completion || echo "exit $?"
