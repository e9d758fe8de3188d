# SPDX-License-Identifier: GPL-3.0-or-later
# Where the time goes: for people and as JSON, and the recording written as a timeline.
cp "$DOS_SRC"/tests/data/traces/{kineto_offload.json,kineto_relative.json,deepspeed_megatron.log} .
dos replay kineto_offload.json
dos replay deepspeed_megatron.log
dos replay kineto_relative.json --format json
dos replay kineto_offload.json --trace out.json -o /dev/null && dos replay out.json --format csv | cut -d, -f 1-9
dos replay kineto_offload.json --trace out.csv -o /dev/null && head -n 3 out.csv
dos replay deepspeed_megatron.log --trace out.json
# What the reader stumbled over comes before what it found; JSON has it in "warnings".
cp "$DOS_SRC/tests/data/traces/kineto_truncated.json" .
for file in kineto_truncated.json kineto_relative.json; do
	dos replay "$file" 2>&1 | head -n 2 | cut -c 1-110
	dos replay "$file" -q | tail -n 1
done
dos replay kineto_truncated.json --format csv -o /dev/null
