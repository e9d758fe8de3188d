#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# builds.sh MAKE: gcc and clang, each with -O0, -O3 and -march=native: builds dos and dos-probe (without CUDA), runs the unit and the
# command-line tests, and compares the stored results of a sweep, all digits of them, with those of the first build. Each build has its
# folder below build/; BUILDS="gcc-O0 clang-native" for some of them. A quarter of an hour on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
make=$1
top=build
declare -A flags=([O0]=-O0 [O3]=-O3 [native]='-O2 -march=native')
passed=0 failed=0 skipped=0 first=
unset CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS MFLAGS MAKELEVEL

results() { # DOS: every digit of some thousand trials
	local db
	db=$(mktemp -u "$PWD/$top/results.XXXXXX")
	DOS_DATA=$PWD "$1" sweep -q --hw h100-4x,a100-4x --model 7b,20b --policy zero3-offload,dos,hybrid,twinflow:ratio=0.5 --stride 1..6 \
		--fraction 0..1:0.1 --gpus 1,2,4 --mbs 1,2 --contention none,fluid,measured --db "$db" >/dev/null
	DOS_DATA=$PWD "$1" db query "$db" --order key --format csv
	rm -f "$db" "$db"-*
}

try() { # COMPILER NAME
	local build=$top/$1-$2 log=$top/$1-$2.log status=0
	CK_TIMEOUT_MULTIPLIER=4 "$make" --no-print-directory -j"$(nproc)" --keep-going CC="$1" NVCC=none BUILD="$build" CFLAGS="${flags[$2]}" unit cli >"$log" 2>&1 || status=1
	grep -E ' warning: ' "$log" >"$log.warnings" && status=1
	[ -x "$build/bin/dos" ] && results "$build/bin/dos" >"$build/results.csv" || status=1
	first=${first:-$build/results.csv}
	cmp "$first" "$build/results.csv" >>"$log" 2>&1 || status=1
	echo "$1 ${flags[$2]}: $(grep -hE '^(unit|cli): ' "$log" | paste -sd ';' | sed 's/;/; /'); $(wc -l <"$log.warnings") warnings;" \
		"results $(cmp -s "$first" "$build/results.csv" && echo 'equal those of the first build' || echo DIFFER)"
	[ $status -eq 0 ] || { tail -n 20 "$log"; echo "FAILED: the whole is in $log"; }
	return $status
}

mkdir -p "$top"
for compiler in gcc clang; do
	for name in O0 O3 native; do
		case " ${BUILDS:-$compiler-$name} " in *" $compiler-$name "*) ;; *) continue ;; esac
		if ! command -v $compiler >/dev/null; then
			echo "$compiler ${flags[$name]}: skipped, no $compiler (apt-get install $compiler)"
			skipped=$((skipped + 1))
		elif try $compiler $name; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
		fi
	done
done
echo "builds: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
