# SPDX-License-Identifier: GPL-3.0-or-later
# Three strides of the A100 node, from a machine of another kind with the counts of this node: the other strides and the larger model.
# Not from every start: with dgx-a100, whose link explains k=2 by itself, the other strides of 7B are 6 % off (the larger model 4 %).
counts=gpus=4,numa_domains=1,hw_threads_per_rank=14,threads_per_core=2,threads=14,workers=14,gpus_per_pcie_root=1
rows='--rows a100-7b-zero3 --rows a100-7b-flush --rows a100-7b-dos-k2 --rows a100-7b-dos-k10'
for start in dgx-h100 h100-4x; do
	dos fit --hw $start --node $counts published $rows -o fit.json -q --leave-out none >report || exit
	dos validate --hw ./fit.json --rows 'a100-7b-dos-k*' --quantity update_s --max-mape 3% -q >/dev/null && echo "$start: other strides within 3 %"
	dos validate --hw ./fit.json --rows 'a100-20b-*' --quantity update_s --max-mape 5% -q >/dev/null && echo "$start: larger model within 5 %"
done
grep -c 'left at the start' report
dos fit --hw h200-vm --node $counts published $rows -q --leave-out none --param dram_Bps | grep -o 'Runs that would not fit.*'
dos fit --hw dgx-a100 --node numa_domains=2,ranks_per_core_set=2,hw_threads_per_rank=46,threads=46,workers=46,gpus_per_pcie_root=1 published \
	--rows h100-20b-zero3 --rows h100-20b-flush --rows h100-20b-dos-k2 --rows h100-20b-dos-k4 --leave-out none -q -o fit.json >report
dos validate --hw ./fit.json --rows 'h100-*' --quantity update_s --max-mape 3% -q >/dev/null && echo 'H100 node: the rest within 3 %'
