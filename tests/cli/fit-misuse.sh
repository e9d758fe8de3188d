# SPDX-License-Identifier: GPL-3.0-or-later
# What cannot be fitted says why.
try() {
	dos fit "$@" >out
	echo "exit $?"
	cat out
}
cp "$DOS_SRC"/tests/data/traces/deepspeed_{no_breakdown,old_names}.log .
grep -E "^(id|h100-20b-zero3|a100-7b-(zero3|flush)|a100-20b-dos-k5)," "$DOS_SRC/traces/recorded/published.csv" >runs.csv
head -n 1 runs.csv >empty.csv
echo nothing >text
try
try --hw a100-4x
try published
try --hw a100-4x none.csv
try --hw a100-4x text
try --hw a100-4x empty.csv
try --hw a100-4x runs.csv
try --hw a100-4x runs.csv --rows 'none*'
try --hw a100-4x runs.csv --rows a100-20b-dos-k5
try --hw a100-4x runs.csv --rows 'a100-7b-*' --param dram
try --hw a100-4x runs.csv --rows 'a100-7b-*' --param pcie_root_Bps
try --hw a100-4x runs.csv --rows 'a100-7b-*' --node gpu=4
try --hw a100-4x runs.csv --rows 'a100-7b-*' --node gpus=0
try --hw a100-4x runs.csv --rows 'a100-7b-*' --node threads_per_core=1
try --hw a100-4x runs.csv --rows 'a100-7b-*' --loss l3
try --hw a100-4x runs.csv --rows 'a100-7b-*' --contention measured
try --hw a100-4x runs.csv published --rows a100-7b-zero3
try --hw a100-4x runs.csv --rows a100-7b-zero3 --param dram_Bps --leave-out none -o no/such/folder.json
try --hw a100-4x deepspeed_no_breakdown.log
try --hw a100-4x deepspeed_old_names.log
# Whether -o can be written is known before anything is read, and nothing is left there by a fit that fails.
try --hw a100-4x none.csv -o no/such/folder.json
try --hw a100-4x none.csv -o new.json
ls new.json* 2>/dev/null || echo nothing left
