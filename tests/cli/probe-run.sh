# SPDX-License-Identifier: GPL-3.0-or-later
# A CPU case and a case that is waived; no figure of the machine in the output.
set -e
dos-probe run --quick -q -t cpu_copy -t cpu_numa -t cpu_smt --seed 9 -o profile.json >table
head -n 1 table | awk '{ print $1, $2, $3, $4 }'
awk '$1 == "cpu_copy" && $2 == "t=1" { print $1, $2, $3 }' table
grep -c '"schema": "dos-hwprofile/1"' profile.json
grep -o '"complete": [a-z]*' profile.json
grep -o '"seed": [0-9]*' profile.json
grep -c '"round_samples": \[[0-9]*\]' profile.json | sed 's/^[1-9][0-9]*$/rounds of each point: one/'
grep -o '"command": "[^"]*"' profile.json
ls
