# SPDX-License-Identifier: GPL-3.0-or-later
# Rows of v_runs as table, JSON and CSV; SQL that is wrong or would do more than read; an empty selection.
dos sweep --hw h100-4x --model 7b,20b --policy zero3-offload,dos,hybrid --stride 2,3 --fraction 0.5 --gpus 1,4 --db runs.db -q >/dev/null
query() { dos db query runs.db "$@"; local code=$?; [ $code -eq 0 ] || echo "exit $code" >&2; }
names="hw, model, substr(policy, 1, 4) AS policy, stride, fraction, gpus, feasible"
query --columns "$names" --order 'model, gpus, policy, stride'
query --columns "$names" --where "stride = 3" --order 'model, gpus' --format json
query --columns "$names" --where "policy LIKE 'hybrid%'" --order 'model, gpus' --format csv
query --columns 'model, policy, min(iteration_s) AS iteration_s' --where 'feasible AND gpus = 4' --group model
query --columns 'gpus, reason' --where 'NOT feasible' --order gpus --limit 1 --format csv
query --format csv --limit 1 | head -n 1
query --columns 'count(*) AS n' --where "hw = 'h100-4x' -- a remark" --format csv -o n.csv
cat n.csv
query --where "model = '70b'"
query --where 'strid = 2'
query --where '1); DELETE FROM trials; --'
query --where "1) UNION SELECT load_extension('x'); --"
query --columns 'key FROM v_runs; ATTACH "x" AS x; SELECT 1'
query --columns 'readfile("/etc/passwd")'
query --order nothing
query --limit 0
dos db query runs.db runs.db
echo "exit $?" >&2
dos db quer runs.db
echo "exit $?" >&2
dos db
echo "exit $?" >&2
ls
