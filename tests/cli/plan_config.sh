# SPDX-License-Identifier: GPL-3.0-or-later
# A DeepSpeed configuration completed by a plan, and Megatron's flags.
tiny=$DOS_SRC/tests/data/tiny.json
small="--uncertainty 0 --hw $tiny --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --seq 1024 --gpu-mem 1500MiB"
cat >in.json <<'END'
{
    // batch sizes count
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 1,
    "bf16": {"enabled": true},
    "zero_optimization": {"stage": 3, "overlap_comm": true, "sub_group_size": 1e9},
    "steps_per_print": 10,
}
END
dos plan $small --ds-config in.json -o out.json | grep -A 1 '^best  '
diff in.json out.json
dos plan $small --ds-config in.json --fork -o - --format csv | sed -n '/^{/,$p'
dos plan $small --megatron --mbs 1 | grep ^megatron
sed 's/"train_micro_batch_size_per_gpu": 2/"train_batch_size": 16, "train_micro_batch_size_per_gpu": "auto"/
s/"gradient_accumulation_steps": 1/"gradient_accumulation_steps": "auto"/' in.json >open.json
dos plan $small --ds-config open.json -o out.json | grep -A 1 '^best  '
sed -i 's/"train_micro_batch_size_per_gpu": 2/"train_batch_size": 3, &/' in.json
dos plan $small --ds-config in.json -o out.json
echo "exit $?"
sed 's/"train_batch_size": 3, //; s/"overlap_comm": true/"offload_param": {"device": "cpu"}/' in.json >param.json
dos plan $small --ds-config param.json -o out.json | grep -A 1 "^best  "
diff param.json out.json
dos check-config out.json --hw $tiny | grep -c offload_param
sed 's/"offload_param": {"device": "cpu"}/"cpu_offload_params": true/' param.json >legacy.json
dos plan $small --ds-config legacy.json -q -o - | grep -o '"cpu_offload_params": [a-z]*'
