# SPDX-License-Identifier: GPL-3.0-or-later
# Sizes, texts and databases at which a run could take all memory, move the terminal's cursor or lose what was stored.
cp "$DOS_SRC/tests/data/tiny.json" . && hw=./tiny.json
try() { echo "\$ dos $*" >&2; dos "$@"; echo "exit $?" >&2; }
simulate() { echo "\$ simulate $*" >&2; dos simulate --hw "$hw" -q --format csv "$@" | cut -d, -f2-6; echo "exit ${PIPESTATUS[0]}" >&2; }

# More than a simulation holds is refused before it begins; the closed form has no such limit.
simulate --model 7b --policy dos:stride=2 --grad-accum 1e6
simulate --model 7b --policy dos:stride=2 --grad-accum 31251
simulate --n-subgroups 1e7 --subgroup 1k --policy dos:stride=2
simulate --model 7b --policy dos:stride=2 --layers 1e6
dos sweep --hw "$hw" --model 7b --policy zero3-offload --grad-accum 1,1e6 --db big.db -q >/dev/null
try db query big.db --columns grad_accum,feasible,reason --format csv
dos model --hw "$hw" --n-subgroups 1e6 --subgroup 1k --policy dos:stride=2 --format csv -q | wc -l
dos model --hw "$hw" --n-subgroups 1e7 --format json | grep -E '"n_subgroups"|"stride_opt"|left_out|"stride": (0|1024|10000000),' | cut -d, -f1-2

# One zero, one key.
dos simulate --hw "$hw" --n-subgroups 4 --subgroup 1M --policy hybrid:fraction=-0 --format json -q | grep '"policy"'

# A name from a file stays one line of a table, and no escape sequence.
sed 's/"tiny"/"ti\\u001b[31mny\\nx"/' "$hw" >escape.json
dos profile check ./escape.json | tail -n 1 | cut -c 1-30

# Values that the SQL of a person asks for are no fault of the file.
try db query big.db --where 'zeroblob(2000000000)'
try db query big.db --where "hw LIKE 'a' ESCAPE 'zz'"

# A trigger in a database from elsewhere does not delete what a sweep stores.
dos sweep --hw "$hw" --model 7b --policy dos --stride 1..3 --db trigger.db -q >/dev/null
if command -v sqlite3 >/dev/null; then
	sqlite3 trigger.db 'CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END'
fi
dos sweep --hw "$hw" --model 7b --policy dos --stride 1..5 --db trigger.db -q >/dev/null
dos db query trigger.db --columns 'count(*)' --format csv | tail -n 1

# A DeepSpeed configuration without batch sizes.
echo '{"zero_optimization": {"stage": 3}}' >ds.json
try plan --hw "$hw" --model 7b --ds-config ds.json -o -
