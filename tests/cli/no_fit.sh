# SPDX-License-Identifier: GPL-3.0-or-later
# A model that does not fit: the result is printed, the reason said, exit 1.
cd "$DOS_SRC/tests/data" || exit 1
try() { dos simulate --hw ./tiny.json --contention none "$@"; echo "exit $?"; }
try --model 30b --policy gpu-only --format json | grep -E 'fits|reason|exit|iteration_s'
try --model 70b --policy zero3-offload --format csv | sed 1d | cut -d, -f1-3,19-20
try --model 30b --policy gpu-only | grep -E 'fits|exit'
try --model 30b --policy gpu-only,zero3-offload:flush=async | cut -c1-28
