# SPDX-License-Identifier: GPL-3.0-or-later
# Power lost at 20 random moments: the database is intact, no committed row is lost, and the sweep goes on (tests/power_loss.sh).
bash "$DOS_SRC/tests/power_loss.sh" "$(command -v dos)" 20 "$RANDOM" >log 2>&1
status=$?
[ $status -ne 77 ] || { sed -n 's/^power_loss: skipped, //p' log >&2; exit 77; }
[ $status -eq 0 ] || cat log
sed -nE 's/^([0-9]+ losses of power).*: ([0-9]+ bad)$/\1, \2/p; /to the end/p' log
