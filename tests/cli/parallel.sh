# SPDX-License-Identifier: GPL-3.0-or-later
# ZeRO stages and tensor parallelism on every command that has them, and where they are read from files.
shape="--layers 4 --hidden 1024 --heads 16 --ffn 4096 --seq 1024"
small="--hw h100-4x $shape --vocab 32000 --subgroup 5M"
open="--hw h100-4x $shape --vocab 32000 --gpu-mem 4GiB"
run() {
	echo "== $*"
	dos "$@" 2>&1
	local status=$?
	[ $status = 0 ] || echo "exit $status"
}
for stage in 3 2 1; do
	run simulate $small --policy gpu-only,zero3-offload:flush=async,twinflow:ratio=0.5,dos:stride=2,chain=duplex,hybrid:fraction=0.5 --zero $stage
done
run simulate $small --policy hybrid:fraction=0.5 --zero 2 --tp 2
dos simulate $small --policy gpu-only --zero 1 --tp 2 --format json | grep -E '"(gpus|zero|tp|n_params)"'
echo "said or not: $(dos simulate $small --policy gpu-only --zero 3 --tp 1 --format json | cmp - <(dos simulate $small --policy gpu-only --format json) && echo the same)"
dos simulate $small --policy gpu-only,hybrid:fraction=0.5 --tp 2 --format csv | cut -d, -f2-4
dos model $small --policy hybrid --zero 2 | grep all-gather
dos model $small --policy hybrid --zero 2 --format json | grep -E '"(zero|tp|update_gather_s)"'

# what cannot be
run simulate $small --policy gpu-only --zero 4
run simulate $small --policy gpu-only --tp 3
run simulate --hw h100-4x $shape --policy gpu-only --tp 2 --vocab 32001
run simulate $small --policy dos --zero 2
run model $small --zero 1

# sweeps: axes, which are columns; plain points keep their keys
dos sweep -q $small --policy gpu-only,dos:stride=2 --zero 2,3 --tp 1,2 --db s.db
dos db query s.db --columns 'zero, tp, policy, feasible, reason, update_s > 0 as has_update' --order 'zero, tp, policy' --format csv
dos sweep -q $small --policy gpu-only --db s.db
dos db query s.db --columns 'count(*) as n' --format csv
dos sweep -q $small --policy 'hybrid:fraction=0.5' --zero 1,2,3 --closed-form --db c.db
dos db query c.db --columns 'zero, round(update_s * 1e6) as us' --order zero --format csv
dos db query s.db --where 'zero = 2 and tp = 2 and feasible'
dos report -q --db s.db -o r.html && grep -o -e 'h100-4x[^<]*GPUs[^<]*' -e '<span>--zero</span> <span>[0-9]</span>' -e '<span>--tp</span> <span>[0-9]</span>' r.html | sort -u
echo '{"zero": 2, "tp": 2}' >dos.json
dos simulate $small --policy gpu-only --format json | grep -E '"(zero|tp)"'
rm dos.json

# DeepSpeed
for stage in 0 1 2; do
	cat >ds.json <<END
{"train_batch_size": 4, "gradient_accumulation_steps": 1, "zero_optimization": {"stage": $stage, "overlap_comm": true,
 "offload_optimizer": {"device": "cpu", "pin_memory": true}}}
END
	run check-config ds.json
	run plan $open --ds-config ds.json -o out.json | grep -E '^(best  |plan|run|dos)|exit'
done
diff ds.json out.json
run plan $open --ds-config ds.json --zero 3 -o out.json
run plan $open --ds-config ds.json --fork -o out.json

# Megatron
cat >args.sh <<'END'
pretrain_gpt.py --num-layers 4 --hidden-size 1024 --num-attention-heads 16 --ffn-hidden-size 4096 --swiglu --normalization rmsnorm
	--disable-bias-linear --use-rotary-position-embeddings --untie-embeddings-and-output-weights --vocab-size 32000 --seq-length 1024
	--tensor-model-parallel-size 2 --use-distributed-optimizer
END
run check-config args.sh --gpus 4
dos simulate --hw h100-4x --model ./args.sh --policy gpu-only --format json | grep -E '"(n_params|zero|tp)"'
dos simulate -q --hw h100-4x --model ./args.sh --policy gpu-only --tp 1 --zero 3 --format json | grep -E '"(n_params|zero|tp)"'
dos sweep -q --hw h100-4x --model ./args.sh --policy gpu-only --db m.db && dos db query m.db --columns 'model, zero, tp' --format csv
run plan $open --tp 2 --megatron --mbs 1 | grep -E '^(plan|megatron)'
run plan $open --megatron --zero 2
for size in pipeline-model-parallel-size context-parallel-size; do
	sed "s/--use-distributed-optimizer/--$size 2/" args.sh >other.sh
	run check-config other.sh --gpus 4
	run simulate --hw h100-4x --model ./other.sh --policy gpu-only
done
