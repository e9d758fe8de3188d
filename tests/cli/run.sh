#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh [--golden] BIN [CASE..]: runs tests/cli/CASE.sh, each in an empty folder with BIN first in PATH and DOS_SRC
# naming the source tree, and compares output, errors and exit status with CASE.out, CASE.err, CASE.exit (absent: empty,
# empty, 0). Exit status 77 is a skip; the last line of its errors says why. --golden writes the files instead.
set -euo pipefail
cases=$(cd "$(dirname "$0")" && pwd)

# One case, in its own folder $2: writes passed, failed or skipped to $2/result, and what a person reads to $2/report.
run_case() {
	local name=$1 folder=$2 status=0
	mkdir -p "$folder/empty"
	(cd "$folder/empty" && exec bash "$cases/$name.sh") </dev/null >"$folder/out" 2>"$folder/err" || status=$?
	if [ $status -eq 77 ]; then
		echo skipped >"$folder/result"
		echo "skipped $name: $(tail -n 1 "$folder/err")" >"$folder/report"
	elif [ -n "$DOS_GOLDEN" ]; then
		write_golden "$name" "$folder" $status
	else
		compare_case "$name" "$folder" $status
	fi
}

compare_case() {
	local name=$1 folder=$2 status=$3 want=0 result=passed stream
	[ ! -f "$cases/$name.exit" ] || want=$(cat "$cases/$name.exit")
	{
		for stream in out err; do
			[ -f "$cases/$name.$stream" ] || : >"$folder/want.$stream"
			[ ! -f "$cases/$name.$stream" ] || cp "$cases/$name.$stream" "$folder/want.$stream"
			diff -u --label "$name.$stream" --label got "$folder/want.$stream" "$folder/$stream" || result=failed
		done
		[ "$status" = "$want" ] || { echo "exit status $status, $want expected"; result=failed; }
	} >"$folder/diff"
	echo $result >"$folder/result"
	[ $result = passed ] || { echo "FAILED $name"; head -n 60 "$folder/diff"; } >"$folder/report"
}

write_golden() {
	local name=$1 folder=$2 status=$3 stream
	for stream in out err; do
		rm -f "$cases/$name.$stream"
		[ ! -s "$folder/$stream" ] || cp "$folder/$stream" "$cases/$name.$stream"
	done
	rm -f "$cases/$name.exit"
	[ "$status" -eq 0 ] || echo "$status" >"$cases/$name.exit"
	echo passed >"$folder/result"
}

if [ "$1" = --one ]; then
	run_case "$3" "$2/$3"
	exit 0
fi

golden=
[ "$1" != --golden ] || { golden=1; shift; }
bin=$(realpath -m "$1")
shift
# The same for everybody: no configuration, no colours, no locale of the person's.
unset XDG_CONFIG_HOME NO_COLOR ${!DOS_*}
export DOS_GOLDEN=$golden DOS_SRC=${cases%/tests/cli} PATH=$bin:$PATH HOME=/nonexistent LC_ALL=C TERM=dumb COLUMNS=80
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

if [ $# -gt 0 ]; then
	names=("$@")
else
	mapfile -t names < <(find "$cases" -maxdepth 1 -name '*.sh' ! -name run.sh -printf '%f\n' | sed 's/\.sh$//' | sort)
fi
# Whoever runs this in the background ignores SIGINT, and what is started inherits that: cases begin with all signals as usual.
[ ${#names[@]} -eq 0 ] || printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P 2 env --default-signal bash "$cases/run.sh" --one "$temp"

passed=0 failed=0 skipped=0
for name in ${names[@]+"${names[@]}"}; do
	result=$(cat "$temp/$name/result" 2>/dev/null || echo failed)
	declare "$result=$((${!result} + 1))"
	cat "$temp/$name/report" 2>/dev/null || true
done
echo "cli: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
