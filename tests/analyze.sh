#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# analyze.sh BUILD: cppcheck, clang-tidy (.clang-tidy) and gcc -fanalyzer over model/, sim/ and traces/, those that are installed.
# BUILD holds the generated headers. A finding that is wrong stands in analyze_exceptions with the reason; any other one fails.
set -euo pipefail
cd "$(dirname "$0")/.."
flags=(-std=gnu11 -D_GNU_SOURCE -ffp-contract=off -I. "-I$1/gen")
read -ra packages <<<"$(pkg-config --cflags gsl libcjson sqlite3 zlib)"
flags+=(${packages[@]+"${packages[@]}"})
folders=(model model/base sim sim/policy sim/study sim/cli traces)
found=$(mktemp)
trap 'rm -f "$found"' EXIT

sources() { find "${folders[@]}" -maxdepth 1 -name '*.c' | sort; }
# Each prints FILE:LINE CHECK MESSAGE.
run_cppcheck() {
	cppcheck -q --std=c11 --enable=warning,performance,portability -I. "-I$1/gen" \
		--template='{file}:{line} {id} {message}' model sim traces 2>&1
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
		return
	fi
	"$2" "$3" | sort -u >>"$found"
}

try cppcheck run_cppcheck "$1"
try clang-tidy run_tidy "$1"
try gcc run_gcc "$1"
awk '
	FNR == NR { if (NF && $1 != "#") known[$1 " " $2] = 1; next }
	{ file = $1; sub(":.*", "", file); n++ }
	!((file " " $2) in known) && !(("* " $2) in known) { print; bad++ }
	END { printf "analyze: %d findings, %d explained in tests/analyze_exceptions\n", n, n - bad; exit bad > 0 }
' tests/analyze_exceptions "$found"
