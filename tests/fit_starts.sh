#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fit_starts.sh [START..]: dos fit on three strides (0, 2, 10) of the A100 node's 7B, from each START with the counts of that node;
# mean error of the update at the other strides of 7B (at most 3 %), and of the sweep of the larger model (at most 5 %). START: a
# shipped profile (default: all), or off:N, a100-4x with every rate and time of software off by a factor of two, up or down by the bits of
# N, and nothing said of how sure they are. Exit 1 when one is outside. dos is the first in PATH; DOS_SRC: the source tree.
set -euo pipefail
src=${DOS_SRC:-$(cd "$(dirname "$0")/.." && pwd)}
counts=gpus=4,numa_domains=1,hw_threads_per_rank=14,threads_per_core=2,threads=14,workers=14,gpus_per_pcie_root=1
fit_rows='--rows a100-7b-zero3 --rows a100-7b-flush --rows a100-7b-dos-k2 --rows a100-7b-dos-k10'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Room for the runs: what does not fit is refused, whatever its time. Rows that a start was fitted on would not be counted.
with_room() {
	sed -E -e '/"pinned_max_bytes"/d; s/"fitted_on": \[[^]]*\]/"fitted_on": []/' \
		-e 's/("host_memory_bytes": \{)"value": [^,}]*/\1"value": 540e9/; s/("gpu_memory_bytes": \{)"value": [^,}]*/\1"value": 85e9/' \
		-e '/"(host|gpu)_memory_bytes"/s/"(lo|hi)": [^,}]*, //g' "$1"
}

off() {
	with_room "$src/hwprofiles/a100-4x.json" | awk -v bits="$1" '
	BEGIN {
		n = split("dram_Bps push_pageable_params_per_s flush_pageable_params_per_s gpu_adam_params_per_s layer_forward_launch_s " \
			"layer_backward_launch_s reduce_params_per_s step_subgroup_s stream_subgroup_s cpu_adam cpu_downscale", names, " ")
		for (i = 1; i <= n; i++) {
			factor["\"" names[i] "\":"] = bits % 2 ? 2 : 0.5
			bits = int(bits / 2)
		}
		factor["\"cpu_unscale\":"] = factor["\"cpu_adam\":"]
	}
	$1 in factor && /"points"/ {
		n = split($0, parts, "], *")
		for (i = 1; i <= n; i++)
			if (match(parts[i], /[0-9.e+]+$/))
				parts[i] = substr(parts[i], 1, RSTART - 1) factor[$1] * substr(parts[i], RSTART)
		for (i = 1; i < n; i++)
			printf "%s], ", parts[i]
		$0 = parts[n]
	}
	$1 in factor && /"value"/ {
		match($0, /"value": [0-9.e+-]+/)
		$0 = substr($0, 1, RSTART + 8) factor[$1] * substr($0, RSTART + 9, RLENGTH - 9) substr($0, RSTART + RLENGTH)
	}
	{ gsub(/"kind": "fitted"/, "\"kind\": \"assumed\""); print }'
}

error_of() { # ROWS: per cent
	dos validate --hw "$folder/fit.json" --rows "$1" --quantity update_s --format json -q |
		sed -n '/"n_refused": 0,/,/"update_s"/s/^    "update_s".*"mape_frac": \([0-9.e-]*\).*/\1/p' | awk 'NR == 1 { printf "%.2f", 100 * $1 }'
}

[ $# -gt 0 ] || set -- $(cd "$src/hwprofiles" && printf '%s\n' *.json | sed 's/\.json$//') off:682 off:1365
outside=0
printf '%-16s %10s %10s %10s\n' start 'strides' 'larger' 'time'
for start; do
	case $start in
	off:*) off "${start#off:}" >"$folder/start.json" ;;
	*) with_room "$src/hwprofiles/$start.json" >"$folder/start.json" ;;
	esac
	dos fit --hw "$folder/start.json" --node $counts published $fit_rows --leave-out none -v -o "$folder/fit.json" 2>"$folder/remarks" >"$folder/report"
	strides=$(error_of 'a100-7b-dos-k*')
	larger=$(error_of 'a100-20b-*')
	printf '%-16s %8s %% %8s %% %10s\n' "$start" "$strides" "$larger" "$(sed -n 's/.*simulations, \(.*\)/\1/p' "$folder/remarks")"
	awk -v a="$strides" -v b="$larger" 'BEGIN { exit !(a != "" && b != "" && a <= 3 && b <= 5) }' || outside=1
done
exit $outside
