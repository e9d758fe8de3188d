# SPDX-License-Identifier: GPL-3.0-or-later
# Three strides of the A100 node predict the other strides and the larger model, from a plan of such a machine, from machines of another
# kind and from this one with all rates and times off by two (make fit-starts: from every profile). And the H100 node likewise.
bash "$DOS_SRC/tests/fit_starts.sh" dgx-a100 dgx-h100 h100-4x off:682 off:1365 >starts || cat starts
awk 'NR > 1 { print $1 ": other strides of 7B " ($2 <= 3 ? "within 3 %" : $2 " % off") ", 20B " ($4 <= 5 ? "within 5 %" : $4 " % off") }' starts
counts=gpus=4,numa_domains=1,hw_threads_per_rank=14,threads_per_core=2,threads=14,workers=14,gpus_per_pcie_root=1
rows='--rows a100-7b-zero3 --rows a100-7b-flush --rows a100-7b-dos-k2 --rows a100-7b-dos-k10'
dos fit --hw h200-vm --node $counts published $rows -q --leave-out none --param dram_Bps >report
grep -o 'Runs that would not fit.*' report
dos fit --hw dgx-a100 --node numa_domains=2,ranks_per_core_set=2,hw_threads_per_rank=46,threads=46,workers=46,gpus_per_pcie_root=1 published \
	--rows h100-20b-zero3 --rows h100-20b-flush --rows h100-20b-dos-k2 --rows h100-20b-dos-k4 --leave-out none -q -o fit.json >report
grep -c 'left at the start' report
dos validate --hw ./fit.json --rows 'h100-*' --quantity update_s --max-mape 3% -q >/dev/null && echo 'H100 node: the rest within 3 %'
