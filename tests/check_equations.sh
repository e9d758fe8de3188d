#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every equation E<n> that model/MODEL.md defines in a heading ("### E7 ...") is named in a comment of the code and in
# one of a test; every one named there is defined.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -f model/MODEL.md ] || exit 0

# E numbers inside comments of the files on standard input ("E5-2680" is a processor)
in_comments() {
	xargs -r perl -0777 -ne 'while (m{/\*.*?\*/|//[^\n]*}gs) { my $c = $&; print "$1\n" while $c =~ /\b(E\d+)\b(?!-\d)/g }' |
		sort -u
}
files() { # FOLDER..: their C files
	find "$@" -type f \( -name '*.c' -o -name '*.h' \) 2>/dev/null | sort || true
}
complain() { # TEXT: each E number on standard input is a complaint
	local number
	while IFS= read -r number; do
		echo "$number $1" >&2
	done
}

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
sed -nE 's/^#{2,6} (E[0-9]+)\b.*/\1/p' model/MODEL.md | sort >"$temp/all"
sort -u "$temp/all" >"$temp/model"
files model sim | in_comments >"$temp/code"
files tests | in_comments >"$temp/tests"
{
	uniq -d "$temp/all" | complain 'has two headings in model/MODEL.md'
	comm -23 "$temp/model" "$temp/code" | complain 'is in model/MODEL.md and in no comment of model/ or sim/'
	comm -23 "$temp/model" "$temp/tests" | complain 'is in model/MODEL.md and in no comment of tests/'
	cat "$temp/code" "$temp/tests" | sort -u | comm -13 "$temp/model" - |
		complain 'is named in code or tests and has no heading in model/MODEL.md'
} 2>"$temp/complaints"
cat "$temp/complaints" >&2
[ ! -s "$temp/complaints" ]
