#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# analyze.sh BUILD: cppcheck, clang-tidy (.clang-tidy) and gcc -fanalyzer over model/, sim/, traces/ and probe/, those that are
# installed.
# BUILD holds the generated headers. A finding that is wrong stands in analyze_exceptions with the reason; any other one fails.
set -euo pipefail
cd "$(dirname "$0")/.."
flags=(-std=gnu11 -D_GNU_SOURCE -ffp-contract=off -I. "-I$1/gen")
read -ra packages <<<"$(pkg-config --cflags gsl libcjson sqlite3 zlib)"
flags+=(${packages[@]+"${packages[@]}"})
folders=(model model/base sim sim/policy sim/study sim/cli traces probe)
found=$(mktemp)
trap 'rm -f "$found"' EXIT
is_whole=1

sources() { find "${folders[@]}" -maxdepth 1 -name '*.c' | sort; }
# Each prints FILE:LINE CHECK MESSAGE.
run_cppcheck() {
	cppcheck -q --std=c11 --enable=warning,performance,portability -I. "-I$1/gen" \
		--template='{file}:{line} {id} {message}' model sim traces probe 2>&1
}
run_tidy() {
	sources | xargs -P 2 -n 8 sh -c 'clang-tidy --quiet "$@" -- '"${flags[*]}"' 2>/dev/null' clang-tidy |
		sed -nE "s#^($PWD/)?([^:]+:[0-9]+):[0-9]+: warning: (.*) \[([^]]+)\]\$#\2 \4 \3#p"
}
run_gcc() {
	sources | xargs -P 2 -n 1 gcc "${flags[@]}" -O1 -fanalyzer -fdiagnostics-plain-output -S -o /dev/null 2>&1 |
		sed -nE 's#^([^:]+:[0-9]+):[0-9]+: warning: (.*) \[(CWE.*\[)?-W([^]]+)\]$#\1 \4 \2#p'
}
try() { # PROGRAM FUNCTION
	if ! command -v "$1" >/dev/null; then
		echo "analyze: $1 skipped, not installed"
		is_whole=0
		return
	fi
	"$2" "$3" | sort -u >>"$found"
}

try cppcheck run_cppcheck "$1"
try clang-tidy run_tidy "$1"
try gcc run_gcc "$1"
# An exception is FILE CHECK FUNCTION, or FILE CHECK /PATTERN/ of the line's text; FILE may be *. Ones that nothing needs fail, too, where
# all three programs ran.
awk -v is_whole="$is_whole" '
	FNR == NR {
		if (NF && $1 != "#") {
			file[++n_known] = $1
			check[n_known] = $2
			place[n_known] = substr($0, length($1) + length($2) + 3)
		}
		next
	}
	# The text of a line, and the function that it is in: the last name at the left margin that parameters follow.
	function find(path, line, i, words) {
		text = name = ""
		for (i = 1; i <= line && (getline text <path) > 0; i++)
			if (text ~ /^[a-z].*[a-z0-9_]\(/ && text !~ /;$/) {
				split(text, words, "(")
				name = words[1]
				sub(/.*[ *]/, "", name)
			}
		close(path)
	}
	function is_known(path, id, i) {
		for (i = 1; i <= n_known; i++)
			if ((file[i] == path || file[i] == "*") && check[i] == id &&
				(place[i] ~ /^\/.*\/$/ ? text ~ substr(place[i], 2, length(place[i]) - 2) : place[i] == name)) {
				used[i] = 1
				return 1
			}
		return 0
	}
	{
		split($1, at, ":")
		find(at[1], at[2])
		n++
		if (is_known(at[1], $2))
			next
		print $0 " (in " name ")"
		bad++
	}
	END {
		for (i = 1; is_whole && i <= n_known; i++)
			if (!used[i]) {
				print "found no more: " file[i] " " check[i] " " place[i]
				n_old++
			}
		printf "analyze: %d findings, %d explained in tests/analyze_exceptions\n", n, n - bad
		exit bad + n_old > 0
	}
' tests/analyze_exceptions "$found"
