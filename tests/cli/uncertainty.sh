# SPDX-License-Identifier: GPL-3.0-or-later
# Intervals on a profile of round numbers, fixed seed. Numbers that depend on the shipped recorded runs and profiles (the model's part)
# are not printed: a profile that is fitted again does not change this.
cd "$DOS_SRC/tests/data" || exit 1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
small='--hw ./tiny.json --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --subgroup 10M'
two='--policy zero3-offload,dos:stride=2'

# The profile's part, in four digits.
parameter_frac() {
	sed -nE 's/^ *"([a-z_]+)": \{.*"parameter_frac": ([0-9.e-]+).*/\1 \2/p' | while read -r name value; do printf '%s %.4f\n' "$name" "$value"; done
}
masked() { sed -E 's/[0-9]+(\.[0-9]+)?/#/g; s/ +/ /g'; }

dos simulate $small --policy dos:stride=2 --uncertainty 20 --seed 3 --format json >"$out/a"
parameter_frac <"$out/a"
grep -oE '"(uncertainty": \{[^}]*|p_best": .*|p_fits": .*)' "$out/a"
dos simulate $small --policy dos:stride=2 --uncertainty=20 --seed 3 --format json | cmp - "$out/a" && echo same
dos simulate $small --policy dos:stride=2 --uncertainty 20 --seed 4 --format json | cmp -s - "$out/a" || echo another
dos simulate $small --policy dos:stride=2 --uncertainty --format json | grep -o '"n": 200'
dos simulate $small $two --uncertainty 20 | masked
dos simulate $small --policy dos:stride=2 --uncertainty 20 | tail -n 7 | masked
dos simulate $small $two --uncertainty 20 --format csv | head -n 1
dos simulate $small $two --uncertainty 20 --format csv | awk -F, 'NR > 1 { p += $NF } END { print "sum of p_best " p }'
dos simulate $small --scale dram=2 --policy dos:stride=2 --uncertainty 20 --seed 3 --format json | grep -c '"interval"'
dos model $small --uncertainty 20 --seed 3 --format json | parameter_frac
dos model $small --uncertainty 20 --format csv | head -n 1
dos model $small --uncertainty 20 | tail -n 1 | masked

cat >"$out/rows.csv" <<CSV
id,hw,model,gpus,policy,subgroup,n_subgroups,threads,update_s,exclude
a,$PWD/tiny.json,,1,"dos:stride=2,chain=duplex",10000000,8,8,0.034,
b,$PWD/tiny.json,,1,"dos:stride=3,chain=duplex",10000000,8,8,0.5,
row-1,$PWD/tiny.json,,1,"dos:stride=4,chain=duplex",10000000,8,8,0.035,
old,$PWD/tiny.json,,1,"dos:stride=5,chain=duplex",10000000,8,8,9,older run
wrong,$PWD/tiny.json,,1,dos:strid=2,10000000,8,8,0.05,
CSV
dos validate --set "$out/rows.csv" --uncertainty 20 --quantity update_s | sed -n '/inside their/,/^$/p' | masked
dos validate --set "$out/rows.csv" --uncertainty 20 --format json | grep -oE '"update_s": \{"n": [0-9]+, "n_inside": [0-9]+, "covered_frac": [0-9.]+'
dos validate --set "$out/rows.csv" --uncertainty 20 --format csv | awk -F, '{ print $1, $NF == "" ? "none" : $NF == "hi" ? "hi" : "interval" }'
dos simulate $small --policy dos --uncertainty 1; echo "exit $?"
dos simulate $small --policy dos --uncertainty 100000; echo "exit $?"
dos simulate $small --policy dos --uncertainty=x; echo "exit $?"
dos plot heatmap --hw h100-4x --model 7b --uncertainty -o x.svg; echo "exit $?"
