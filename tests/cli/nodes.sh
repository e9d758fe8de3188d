# SPDX-License-Identifier: GPL-3.0-or-later
# Several nodes: sums are over all ranks, memory is of one node; what is refused. Numbers: unit tests.
run() { dos simulate --model 7b --policy gpu-only "$@"; }
value() { sed -n "s/^  \"$1\": \([^,]*\),*$/\1/p" "$2"; }
run --hw dgx-h100 --nodes 4 -v 2>&1 >/dev/null | grep -o '4 nodes x 8 GPUs'
run --hw dgx-h100 --nodes 4 --format json >four.json
run --hw dgx-h100 --format json >one.json
run --hw dgx-h100 --nodes 1 --format json | cmp - one.json && echo 'one node: nothing changes'
for file in one.json four.json; do
	for key in gpus nodes n_params n_ops tokens_per_s flop_utilization_frac iteration_s; do
		echo "$key $(value $key $file)"
	done | awk -v file=$file '{ v[$1] = $2 } END { print file, v["gpus"], v["nodes"], v["n_params"], v["n_ops"], "tokens", v["tokens_per_s"] * v["iteration_s"],
		"PFLOP", v["flop_utilization_frac"] * v["iteration_s"] * v["gpus"] * v["nodes"] * 0.989 }'
done
echo '--- 10,000 GPUs, and a million nodes'
for n in 1250 1000000; do
	dos simulate --hw dgx-h100 --model 70b --policy zero3-offload --nodes $n --format csv | awk -F, 'NR > 1 { print $4, $NF, $(NF - 1) < 10000, $(NF - 2) }'
done
run --hw dgx-a100 --nodes 4 --scale net=2 --format json | grep '"scale"'
echo '--- refused'
refused() { run "$@" >/dev/null; echo "exit $?" >&2; }
refused --hw gh200 --nodes 2
refused --hw dgx-h100 --nodes 0
refused --hw dgx-h100 --nodes 1000001
refused --hw dgx-h100 --nodes 1.5
refused --hw dgx-h100 --gpus 9 --nodes 2
sed 's/"network_Bps": {"value": [0-9.]*/"network_Bps": {"value": -1/; s/"lo": 300000000000.0, "hi": 4/"lo": -1, "hi": 4/' "$DOS_SRC/hwprofiles/dgx-h100.json" >bad.json
refused --hw ./bad.json --nodes 2
echo '--- an axis of sweeps'
dos sweep --hw dgx-h100,gh200 --model 7b --policy gpu-only --nodes 1,2,4..8:4 --db s.db -q --format csv
dos sweep --hw dgx-h100,gh200 --model 7b --policy gpu-only --nodes 1,2,4..8:4 --db s.db -q --format csv
dos db query s.db --where 'hw = "gh200" AND update_s IS NULL' --columns 'count(*) AS refused' --format csv
dos db query s.db --where 'nodes = 4 AND feasible' --format csv | sed -n 1p | tr , '\n' | grep -c nodes
dos db query s.db --columns 'hw, gpus, nodes' --where feasible --order 'hw, nodes' --format csv
dos db query s.db --where 'hw = "dgx-h100"' --order nodes | grep -o 'gpus  nodes'
dos report --db s.db --where 'hw = "dgx-h100"' -o r.html && grep -o -e '7b on dgx-h100, [0-9]* nodes*' -e '<span>--nodes</span> <span>[0-9]*</span>' r.html | sort -u
echo '--- plan'
plan() { dos plan --hw dgx-h100 --model 70b --nodes 2 --gpus 4 --policy gpu-only,zero3-offload "$@"; }
plan --tokens-per-batch 16384 --format csv | awk -F, '/^(role|best)/ { print $4 == "gpus" || $4 * $5 * $6 * $7 * $19 == 16384 }'
plan --tokens-per-batch 16384 | grep -o -e 'for 16384 tokens' -e '2 nodes x 4 GPUs' -e '--nodes 2'
plan --tokens-per-batch 1000
echo "exit $?" >&2
plan | grep -o -e 'saves [0-9]* GPUs: without it [0-9]* are needed ([^)]*)'
