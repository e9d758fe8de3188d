# SPDX-License-Identifier: GPL-3.0-or-later

_dos() {
	# Words are split at blanks alone; bash itself splits at ':' and '=' too, and wants only what is behind the last of them.
	local line=${COMP_LINE:0:COMP_POINT} current before=() candidate trim
	current=${line##*[[:blank:]]}
	read -ra before <<<"${line%"$current"}"
	trim=${current%"${current##*[:=]}"}
	[[ $COMP_WORDBREAKS == *:* ]] || trim=${current%"${current##*=}"}
	COMPREPLY=()
	while IFS= read -r candidate; do
		candidate=${candidate%%$'\t'*}
		if [[ $candidate == @file ]]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "${current#"$trim"}")
		elif [[ $candidate == "$current"* ]]; then
			[[ $candidate != *[=:] ]] || compopt -o nospace 2>/dev/null
			COMPREPLY+=("${candidate#"$trim"}")
		fi
	done < <(__dos_candidates "${before[1]}" "${before[-1]}" "$current" ${#before[@]})
}
complete -F _dos dos
