# SPDX-License-Identifier: GPL-3.0-or-later
# Counts of another machine: the start's grid of co-runs, and what it says of loaded DRAM, are left out, and that is said.
sed 's/"host_memory_bytes": {"value": [0-9.e+]*/"host_memory_bytes": {"value": 540e9/' "$DOS_SRC/hwprofiles/h200-probed.json" >start.json
dos fit --hw start.json published --rows a100-7b-zero3 --rows a100-7b-dos-k2 --param dram_Bps --leave-out none -o fit.json \
	--node gpus=4,numa_domains=1,hw_threads_per_rank=14,threads_per_core=2,threads=14,workers=14 >report
for file in start fit; do
	echo "$file: $(grep -cE '"(dram_latency_Bps|[hd]2[hd]_dram_load|[hd]2[hd]_latency_frac|downscale_latency_frac|corun)"' $file.json)"
done
dos profile check ./fit.json
# The counts of START are no other machine.
dos fit --hw h200-probed h200 --rows h200-24x50m-t8-serial-k0 --rows h200-24x50m-t8-serial-k1 --param dram_Bps --leave-out none -o same.json \
	--node gpus=1,numa_domains=1 >report
echo "same: $(grep -cE '"(dram_latency_Bps|corun)"' same.json)"
