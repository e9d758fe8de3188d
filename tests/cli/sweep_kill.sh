# SPDX-License-Identifier: GPL-3.0-or-later
# Killed ten times: nothing committed is lost, and the end is that of an undisturbed sweep.
bash "$DOS_SRC/tests/sweep_kill.sh" "$(command -v dos)" 10 2>log || { cat log; exit 1; }
grep -c 'none lost' log
