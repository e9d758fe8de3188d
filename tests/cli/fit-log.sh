# SPDX-License-Identifier: GPL-3.0-or-later
# A log is one run: shape from its arguments, medians of its phases; the policy from its configuration or the command line.
cp "$DOS_SRC/tests/data/traces/deepspeed_megatron.log" run.log
log=run.log
dos fit --hw a100-4x "$log" --leave-out none --format json -o fitted.json >report
grep -E '"(n_runs|n_values)"' report
grep -oE '"id": [^}]*"measured": [0-9.]*' report
grep -A 1 '"fitted_on"' fitted.json
dos fit --hw a100-4x "$log" --policy dos:stride=3 --leave-out none -o fitted.json >report
dos fit --hw a100-4x "$log" --policy dos:stride=3,zero3-offload
