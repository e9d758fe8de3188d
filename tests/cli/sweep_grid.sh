# SPDX-License-Identifier: GPL-3.0-or-later
# What a grid is: how many points, and which command lines are refused.
points() { dos sweep --hw h100-4x --model 7b "$@" --dry-run; }
refused() { points "$@"; echo "exit $?" >&2; }
points --policy zero3-offload
points --policy zero3-offload,dos,hybrid --stride 2..6 --mbs 1,2,4
points --policy 'dos:stride=2..4,chain=serial;duplex' --policy gpu-only
points --policy dos --stride 1..50 --mbs 1..20 --seq 128..128000:128
points --policy dos --scale dram=1.5,cpu=2
points --policy dos --scale dram=1,1.5 --scale 'cpu=1..2:0.25'
points --policy dos --gpus 1,2,4 --contention none,fluid --checkpointing on,off --precision bf16,fp16 --sync phase,all
points --policy dos --n-subgroups 10,100 --subgroup 10M..30M:10M
points --policy dos --mbs 1..10 --shard 3/4
points --policy dos --mbs 1..10 --limit 3 --format json
points --policy dos --mbs 1..10 --format csv
dos sweep --hw h100-4x,a100-4x --model 7b,13b --policy dos --dry-run
dos sweep --hw h100-4x --layers 2,4 --hidden 256 --heads 4 --ffn 512 --vocab 1000 --policy dos --dry-run
refused
refused --policy zero3-offload,gpu-only --stride 2..6
refused --policy dos --mbs 0
refused --policy dos --mbs 4..1
refused --policy dos --mbs 1,,2
refused --policy dos --contention some
refused --policy dos --scale ram=2
refused --policy dos --scale dram
refused --policy dos --scale dram=2,cpu=1,dram=3
refused --policy dos:buffers=2
refused --policy 'dos:stride=2;x'
refused --policy dos --shard 0/4
refused --policy dos --shard 5/4
refused --policy dos --layers 2 --n-subgroups 4
refused --policy dos --closed-form --sync all
refused --policy dos --stride 1..1000000 --mbs 1..1000000 --seq 1..1000000
dos sweep --model 7b --policy dos --dry-run
echo "exit $?" >&2
dos sweep --hw h100-4x,nowhere --model 7b --policy dos --dry-run 2>&1 | sed 's/accepted: .*/accepted: LIST/' >&2
dos sweep --hw h100-4x --policy dos --layers 2 --dry-run
echo "exit $?" >&2
dos sweep --hw h100-4x --model 7b --policy dos
echo "exit $?" >&2
