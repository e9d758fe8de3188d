# SPDX-License-Identifier: GPL-3.0-or-later
# The keys of the contract, on every shipped machine.
set -e
for hw in $(dos list profiles --format csv | sed 1d | cut -d, -f1); do
	dos simulate --hw "$hw" --model 7b --gpus 1 --policy dos:stride=2 --format json -q -o out.json 2>err || [ $? -eq 1 ]
	for key in schema policy forward_s backward_s update_s other_s iteration_s gpu_peak_bytes host_peak_bytes fits \
		gpu_fraction_frac bottleneck busy_frac n_ops; do
		grep -q "^  \"$key\": " out.json || echo "$hw: $key is missing"
	done
done
dos simulate --hw h100-4x --model 20b --policy zero3-offload,dos --format json -q | grep -c '"schema": "dos-simulate/1"'
dos simulate --hw h100-4x --model 20b --policy zero3-offload,dos --format json -q | sed -n '1p;$p'
