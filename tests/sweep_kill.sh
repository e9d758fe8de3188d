#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# sweep_kill.sh DOS [KILLS [POINTS]]: a sweep is killed with SIGKILL at random moments and started again, KILLS times (200). After
# every kill the database must be readable and must not have lost a row; at the end it must be that of a sweep that nobody
# disturbed. KILLS = 200 takes some minutes.
set -euo pipefail
dos=$(realpath "$1")
kills=${2:-200}
points=${3:-$((kills * 400))}
export DOS_DATA=${DOS_SRC:-$(realpath "$(dirname "$0")/..")}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

sweep() { # DB JOBS
	exec "$dos" sweep --hw h100-4x --model 7b --gpus 1 --subgroup 100M --policy zero3-offload,dos,hybrid,twinflow:ratio=0.5 \
		--stride 2..20 --fraction 0..0.5:0.02 --mbs 1..100000 --limit "$points" --db "$1" -j "$2" -q
}
rows() { "$dos" db query "$1" --columns key --order key --format csv 2>/dev/null | tail -n +2; }

(sweep whole.db 2) >/dev/null
before=0 hits=0
: >before
for ((i = 0; i < kills; i++)); do
	(sweep killed.db $((i % 3 + 1))) >/dev/null &
	sleep "0.$(printf %03d $((RANDOM % 280 + 20)))"
	! kill -KILL $! 2>/dev/null || hits=$((hits + 1))
	wait $! 2>/dev/null || true
	[ -s killed.db ] || continue
	rows killed.db >after || true
	lost=$(comm -23 before after | wc -l)
	[ "$lost" -eq 0 ] || { echo "kill $i: $lost of $before rows are lost" >&2; exit 1; }
	mv after before
	before=$(wc -l <before)
done
(sweep killed.db 2) >/dev/null
if command -v sqlite3 >/dev/null; then
	[ "$(sqlite3 killed.db 'PRAGMA integrity_check')" = ok ] || { echo "the database is damaged" >&2; exit 1; }
fi
"$dos" db query whole.db --order key --format csv >whole.csv
"$dos" db query killed.db --order key --format csv >killed.csv
cmp whole.csv killed.csv
echo "sweep_kill: $hits kills, $before rows before the last start, $(($(wc -l <whole.csv) - 1)) in the end, none lost" >&2
