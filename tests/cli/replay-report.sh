# SPDX-License-Identifier: GPL-3.0-or-later
# Where the time goes: for people and as JSON, and the recording written as a timeline.
cp "$DOS_SRC"/tests/data/traces/{kineto_offload.json,kineto_relative.json,deepspeed_megatron.log} .
dos replay kineto_offload.json
dos replay deepspeed_megatron.log
dos replay kineto_relative.json --format json
dos replay kineto_offload.json --trace out.json -o /dev/null && dos replay out.json --format csv | cut -d, -f 1-9
dos replay kineto_offload.json --trace out.csv -o /dev/null && head -n 3 out.csv
dos replay deepspeed_megatron.log --trace out.json
