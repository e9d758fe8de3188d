# SPDX-License-Identifier: GPL-3.0-or-later
# Plans on a profile of round numbers: the report, why nothing fits, other formats, threads that change nothing. Intervals: plan_sure.sh.
cd "$DOS_SRC/tests/data" || exit 1
small='--uncertainty 0 --hw ./tiny.json --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --seq 1024'
dos plan $small --gpu-mem 4GiB --explain
echo "== fixed by flags"
dos plan $small --mbs 2 --subgroup 50M --checkpointing on --policy dos:ratio=1,zero3-offload --tokens-per-batch 8192 --workers 2
echo "== nothing fits"
dos plan $small --gpu-mem 700MiB --host-mem 2GiB --policy gpu-only,hybrid:fraction=0.5 --mbs 1
echo "exit $?"
dos plan $small --gpu-mem 3GiB --host-mem 1GiB --policy zero3-offload,twinflow:ratio=0 --mbs 8 >/dev/null
echo "exit $?"
more=$(dos plan $small --gpu-mem 4GiB --host-mem 1GiB --pinned-max 1GiB --policy zero3-offload,hybrid:fraction=1 2>&1 >/dev/null | grep -o -e '--host-mem .*GiB')
echo "$more"
dos plan $small --gpu-mem 4GiB $more --policy zero3-offload,hybrid:fraction=1 | grep '^best  '
echo "== all on the GPU is gpu-only where that is planned, too"
dos plan $small --policy dos:ratio=0,gpu-only --mbs 1 | grep -A 2 '^best of'
dos plan $small --policy dos:ratio=0 --mbs 1 | grep -A 1 '^best of'
echo "== what no run checked"
dos plan --hw h200-probed --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --policy gpu-only --mbs 1 --uncertainty 0 --explain \
	--report "$OLDPWD/plan.html" | grep -A 1 '^iteration'
grep -o 'Unchecked:[^<]*' "$OLDPWD/plan.html"
dos plan --hw h200-probed --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --policy gpu-only --mbs 1 --uncertainty 0 | grep unchecked
dos plan $small --policy gpu-only --mbs 1 --explain | grep unchecked
echo "== formats"
dos plan $small --gpu-mem 4GiB --policy dos:chain=duplex,ratio=1,twinflow:mode=serial --mbs 1 --format csv -j 1 >"$OLDPWD/one.csv"
dos plan $small --gpu-mem 4GiB --policy dos:chain=duplex,ratio=1,twinflow:mode=serial --mbs 1 --format csv -j 3 | cmp - "$OLDPWD/one.csv"
cat "$OLDPWD/one.csv"
dos plan $small --gpu-mem 4GiB --policy twinflow:mode=serial,flush=async,ratio=0.5 --mbs 1 --checkpointing on --subgroup 10M --explain --format json
echo "== the printed command gives the same numbers"
for question in "$small --gpu-mem 4GiB --policy dos" "$small --policy hybrid,zero3-offload --tokens-per-batch 16384 --scale dram=0.5 --precision fp16"; do
	dos plan $question --format json >"$OLDPWD/plan.json"
	command=$(sed -n 's/^    "command": "\(.*\)",$/\1/p' "$OLDPWD/plan.json")
	echo "$command"
	diff <($command --format json | grep -E '"(forward|backward|update|iteration)_s"|peak_bytes' | sort) \
		<(sed -n '/^  "best"/,/^  }/p' "$OLDPWD/plan.json" | grep -E '"(forward|backward|update|iteration)_s"|peak_bytes' | sed 's/^  //' | sort) && echo same
done
echo "== misuse"
dos plan $small --host-mem 192
dos plan $small --tokens-per-batch 1000
dos plan $small --n-subgroups 4
dos plan $small --policy dos:strid=2
dos plan $small --ds-config x.json
dos plan $small --fork
dos plan $small extra
true
