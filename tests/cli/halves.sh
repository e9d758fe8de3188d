# SPDX-License-Identifier: GPL-3.0-or-later
# Masters in two 16-bit halves (downscale=split): what it does not go with, and what it changes.
cp "$DOS_SRC/tests/data/tiny.json" . && update='--hw ./tiny.json --gpus 1 --n-subgroups 4 --subgroup 100M'
try() { echo "\$ dos $*" >&2; dos "$@"; echo "exit $?" >&2; }
try simulate $update --policy dos:stride=2,downscale=split
try simulate $update --policy hybrid:chain=published,downscale=split
try simulate $update --policy hybrid:fraction=0.5,downscale=split --precision fp16
try model $update --policy hybrid:downscale=split --precision fp16
try simulate $update --policy hybrid:downscale=splits
try simulate $update --zero 2 --policy dos:stride=2,chain=serial,downscale=split -q >/dev/null

# Beside fused: shorter, less memory. fp16 is refused point by point.
dos sweep $update --policy 'hybrid:fraction=0.5,downscale=fused;split' --precision bf16,fp16 --db x.db -q >/dev/null
dos db query x.db --columns 'policy, update_s, gpu_peak_bytes, host_peak_bytes, reason' --order 'policy, reason' --format csv
for downscale in fused split; do
	dos model $update --policy hybrid:downscale=$downscale -q | grep fraction_opt
done

# Planned with when it is named only.
plan() { dos plan --hw ./tiny.json --model 7b --gpus 1 --format json -q "$@" | grep -c 'downscale=split'; }
plan --policy hybrid
plan --policy hybrid:downscale=split
