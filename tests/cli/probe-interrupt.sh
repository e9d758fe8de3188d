# SPDX-License-Identifier: GPL-3.0-or-later
# Ctrl-C: what was measured is kept, and the profile says that it is partial.
timeout --preserve-status -s INT 3 dos-probe run -q -o profile.json >table
echo "exit $?"
grep -o '"complete": [a-z]*' profile.json
