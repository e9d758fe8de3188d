#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# coverage.sh BUILD: lines that the tests ran, by folder, from the .gcda files under BUILD; files below 85 % are named. Fails when
# model/ or sim/ (folders below included) ran less than 90 %.
set -euo pipefail
build=$1
for folder in model model/base sim sim/policy sim/study sim/cli traces; do
	gcov -n -r -o "$build/$folder" "$build/$folder"/*.gcda 2>/dev/null | awk -v folder=$folder -F "'" '
		/^File/ { file = $2 }
		/^Lines executed/ && file ~ "^" folder "/[a-z0-9_]+[.]c$" && !(file in seen) {
			split($0, part, /[:%]| of /)
			seen[file] = 1
			print folder, file, part[2], part[4]
		}'
done | awk '
	{ ran[$1] += $3 / 100 * $4; all[$1] += $4; if (!(order[$1])) { order[$1] = ++n; name[n] = $1 } }
	$3 < 85 { low[$1] = low[$1] "  " $2 " " $3 " %" }
	{ top = $1; sub("/.*", "", top); ran_top[top] += $3 / 100 * $4; all_top[top] += $4 }
	END {
		for (i = 1; i <= n; i++) printf "%-12s %6.2f %% of %5d lines%s\n", name[i], 100 * ran[name[i]] / all[name[i]], all[name[i]], low[name[i]]
		for (top in all_top) {
			printf "%-12s %6.2f %% in all\n", top "/", 100 * ran_top[top] / all_top[top]
			if (top != "traces" && ran_top[top] < 0.9 * all_top[top]) status = 1
		}
		exit status
	}'
