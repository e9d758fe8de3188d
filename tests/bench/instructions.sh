#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# instructions.sh BENCH [--write]: instructions of one complete 7B simulation, counted by callgrind, beside the stored number; fails
# when there are over 5 % more. Unlike seconds they do not depend on the load of the machine, only on compiler and libraries. --write
# stores the number.
set -euo pipefail
bench=$(realpath "$1")
cd "$(dirname "$0")/../.."
stored=tests/bench/instructions.txt
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed" >&2; exit 77; }

count() { # N simulations
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" --only-simulate "$1" 2>&1 |
		sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p'
}
few=$(count 2)
many=$(count 12)
now=$(((many - few) / 10))
if [ "${2:-}" = --write ]; then
	echo "$now" >"$stored"
fi
before=$(cat "$stored")
echo "{\"instructions_per_simulation\": $now, \"stored\": $before}"
[ $((now * 100)) -le $((before * 105)) ] || { echo "over 5 % more instructions than stored in $stored" >&2; exit 1; }
