# SPDX-License-Identifier: GPL-3.0-or-later

_dos() {
	local line word current=${words[CURRENT]}
	local -a done_words done_texts open_words open_texts
	for line in "${(@f)$(__dos_candidates "${words[2]}" "${words[CURRENT-1]}" "$current" $((CURRENT - 1)))}"; do
		word=${line%%$'\t'*}
		if [[ $word == @file ]]; then
			_files
		elif [[ $word == *[=:] ]]; then
			open_words+=("$word") open_texts+=("${line/$'\t'/  -- }")
		elif [[ -n $word ]]; then
			done_words+=("$word") done_texts+=("${line/$'\t'/  -- }")
		fi
	done
	compadd -Q -l -S '' -d open_texts -a open_words
	compadd -Q -l -d done_texts -a done_words
}
if [ "$funcstack[1]" = _dos ]; then
	_dos "$@"
else
	compdef _dos dos
fi
