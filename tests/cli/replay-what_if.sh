# SPDX-License-Identifier: GPL-3.0-or-later
# Recorded forward and backward under other policies and machines.
cp "$DOS_SRC"/tests/data/traces/{kineto_offload.json,kineto_relative.json,deepspeed_megatron.log} .
tiny=$DOS_SRC/tests/data/tiny.json
dos replay kineto_offload.json --from "$tiny" --hw "$tiny" --policy dos:stride=2..3,gpu-only --contention none --format csv
dos replay kineto_offload.json --from "$tiny" --policy dos:stride=2,chain=serial --grad-accum 2 --contention none --format csv
dos replay deepspeed_megatron.log --hw "$tiny" --from "$tiny" --policy zero3-offload --gpus 1 --scale gpu=0.5 --contention none --format csv
dos replay kineto_offload.json --hw "$tiny" --policy dos:stride=2 --contention none --trace out.json -o /dev/null -q
grep -c '"cat": "h2d engine"' out.json
dos replay kineto_relative.json --from "$tiny" --policy gpu-only -q --format csv
dos replay kineto_offload.json --from "$tiny" --hw "$tiny" --policy gpu-only --gpus 2 -q --format csv
dos replay kineto_offload.json --from "$tiny" --hw dgx-h100 --policy gpu-only --gpus 2 --nodes 4 -q --format csv
dos replay kineto_offload.json --hw "$tiny" --policy dos:stride=2,gpu-only --trace out.json -q
dos replay deepspeed_megatron.log --policy dos:stride=2 -q
