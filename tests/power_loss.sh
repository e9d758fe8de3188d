#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# power_loss.sh DOS [POINTS [SEED]]: sweeps are recorded write by write; their database is put together as it may be when the power fails at
# POINTS (100) random moments, unsynced writes lost (power/replay.py). It must be intact, hold all that was committed, and a sweep must go
# on from there to the contents of one that nothing disturbed.
set -euo pipefail
dos=$(realpath "$1") points=${2:-100} seed=${3:-1}
here=$(realpath "$(dirname "$0")")
export DOS_DATA=${DOS_SRC:-${here%/tests}}
skip() { echo "power_loss: skipped, $1"; exit 77; }
command -v python3 >/dev/null && python3 -c 'import sqlite3, sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || skip 'no python3 with sqlite3'
compiler=$(command -v gcc || command -v cc || command -v clang) || skip 'no compiler'
! grep -qaE '__(asan|tsan)_init' "$dos" || skip 'sanitizers and preloads do not mix'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$compiler" -shared -fPIC -O1 -D_GNU_SOURCE -Wall -Wextra -o record.so "$here/power/record.c" -ldl -lpthread

# Made, gone on with twice, and closed each time: what is written ahead goes into the file then.
sweep() { # DB: all of it
	local mbs
	for mbs in 1..20 1..400 1..700; do
		"$dos" sweep -q --hw h100-4x --model 7b --gpus 1 --subgroup 100M --policy zero3-offload,dos,hybrid,twinflow:ratio=0.5 \
			--stride 2..10 --fraction 0..0.5:0.05 --mbs $mbs --db "$1" -j 2 >/dev/null
	done
}
POWER_LOG=$PWD/log POWER_NAME=runs.db LD_PRELOAD=$PWD/record.so sweep runs.db
python3 "$here/power/replay.py" log states "$points" "$seed"
"$dos" db query runs.db --order key --format csv >whole.csv
n=0
for state in states/*/runs.db; do
	[[ $state =~ states/[0-9]+/runs.db ]] || continue
	sweep "$state"
	"$dos" db query "$state" --order key --format csv | cmp - whole.csv
	n=$((n + 1))
done
echo "$n of them swept to the end: the same contents"
# A disk that does not sync, to see that losses are found.
if python3 "$here/power/replay.py" log states 20 "$seed" lie >lies; then
	echo 'losses of a disk that does not sync are not found'
	exit 1
fi
