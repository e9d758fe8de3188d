# SPDX-License-Identifier: GPL-3.0-or-later
# What may follow, for bash and zsh alike: one candidate a line, a tab before what it means; "@file": names of files.

# Ends of a list a,b,c: what is before the last comma stays.
__dos_list() { # CURRENT VALUES
	local head=
	case $1 in *,*) head=${1%,*}, ;; esac
	printf '%s\n' "$2" | while IFS= read -r value; do printf '%s%s\n' "$head" "$value"; done
}

# name:option=value,option=value,name..
__dos_policy() { # CURRENT
	local current=$1 part rest=$1 name= token
	while [ -n "$rest" ]; do # the policy at hand is the last token without '=' before ':'
		token=${rest%%,*}
		case $token in *:*) name=${token%%:*} ;; *=*) ;; *) [ "$token" = "$rest" ] || name=$token ;; esac
		case $rest in *,*) rest=${rest#*,} ;; *) rest= ;; esac
	done
	part=${current##*[,:]}
	local head=${current%"$part"}
	case $part in
	*=*) __dos_policy_values "$name" "${part%%=*}" | while IFS= read -r value; do printf '%s%s=%s\n' "$head" "${part%%=*}" "$value"; done ;;
	*)
		[ -z "$name" ] || __dos_policy_options "$name" | while IFS= read -r value; do printf '%s%s\n' "$head" "$value"; done
		case $head in *:) ;; *) __dos_policies | while IFS= read -r value; do printf '%s%s\n' "$head" "$value"; done ;; esac ;;
	esac
}

__dos_value() { # COMMAND OPTION CURRENT; false when the option takes none
	local values
	values=$(__dos_values "$1" "$2") || return 1
	case $values in
	@policy) __dos_policy "$3" ;;
	*@file)
		[ "$values" = @file ] || __dos_list "$3" "${values%?@file}"
		echo @file ;;
	?*) __dos_list "$3" "$values" ;;
	esac
}

__dos_candidates() { # COMMAND PREVIOUS CURRENT POSITION
	local command=$1 previous=$2 current=$3 list
	if [ "$4" -eq 1 ]; then
		__dos_commands
		return
	fi
	case $current in
	--*=*)
		__dos_value "$command" "${current%%=*}" "${current#*=}" | while IFS= read -r list; do
			case $list in @file) echo @file ;; *) printf "%s=%s\n" "${current%%=*}" "$list" ;; esac
		done
		return ;;
	esac
	case $previous in -*) __dos_value "$command" "$previous" "$current" && return ;; esac
	case $current in -*) __dos_options "$command" && return ;; esac
	if [ "$4" -eq 2 ] && list=$(__dos_words "$command"); then
		printf '%s\n' "$list"
	else
		echo @file
	fi
}
