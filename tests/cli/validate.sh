# SPDX-License-Identifier: GPL-3.0-or-later
# Rows that are predicted, in the fit, refused, excluded and not fitting; without contention, on a profile of round numbers.
cp "$DOS_SRC/tests/data/tiny.json" .
cat >rows.csv <<'CSV'
id,hw,model,gpus,policy,subgroup,n_subgroups,threads,forward_s,backward_s,update_s,other_s,iteration_s,gpu_peak_bytes,exclude
base,tiny.json,,1,zero3-offload,10000000,8,8,,,0.08,,,,
row-1,tiny.json,,1,dos:stride=2,10000000,8,8,,,0.05,,,,
k2,tiny.json,,1,"dos:stride=2,chain=duplex",10000000,8,8,,,0.025,,,,
k3,tiny.json,,1,"dos:stride=3,chain=duplex",10000000,8,8,,,0.03,,,,
k4,tiny.json,,1,"dos:stride=4,chain=duplex",10000000,8,8,,,0.035,,,,
old,tiny.json,,1,"dos:stride=5,chain=duplex",10000000,8,8,,,9,,,,older run
wrong,tiny.json,,1,dos:strid=2,10000000,8,8,,,0.05,,,,
huge,tiny.json,30b,1,gpu-only,,,,1,2,3,0.5,6.5,5e11,
CSV
dos validate --set ./rows.csv --contention none
dos validate --set ./rows.csv --contention none --rows 'k*' --rows base --quantity update_s --format csv
dos validate --set ./rows.csv --contention none --format json | grep -E '^  "(n_|schema)'
dos validate --set ./rows.csv --contention none --format json | grep -oE '^  "[a-z_]+"' | tr -d '\n'; echo
dos validate --set ./rows.csv --rows 'k*' --contention none --max-mape 0.0001 --format csv | wc -l
dos validate --set ./rows.csv --rows 'k*' --contention none --max-mape 500% -q >/dev/null; echo "exit $?"
dos validate --set ./rows.csv --rows 'k*' --contention none --max-mape 0 >/dev/null; echo "exit $?"
dos validate --set ./rows.csv --rows row-1 --contention none --max-mape 1 >/dev/null; echo "exit $?"
dos validate --set ./rows.csv --rows 'none*'; echo "exit $?"
# No row is left: a mistake, while rows may be excluded on purpose, all of them, too.
dos validate --set ./rows.csv --rows wrong --rows old --contention none --format csv; echo "exit $?"
dos validate --set ./rows.csv --rows huge --contention none --max-mape 500% --format csv | wc -l; echo "exit ${PIPESTATUS[0]}"
dos validate --set ./rows.csv --rows old --contention none --format csv; echo "exit $?"
