# SPDX-License-Identifier: GPL-3.0-or-later
# The same counts by another method. The files of the tree.
command -v python3 >/dev/null || { echo 'needs python3' >&2; exit 77; }
traces=$DOS_SRC/tests/data/traces
files=("$traces"/kineto_{relative,float_epoch,int_us,cpu_only,no_steps}.json)
python3 "$DOS_SRC/tests/replay_independent.py" dos "${files[@]}" "$traces/deepspeed_no_breakdown.log" | cut -d: -f 1
