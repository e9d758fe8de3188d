# SPDX-License-Identifier: GPL-3.0-or-later
# How sure a plan is: intervals, probabilities, what is within the uncertainty. Numbers with a part from the recorded runs are not printed.
cd "$DOS_SRC/tests/data" || exit 1
out=$OLDPWD
small='--hw ./tiny.json --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --seq 1024 --gpu-mem 1500MiB --mbs 1 --subgroup 10M'
masked() { sed -E 's/[0-9]+(\.[0-9]+)?/#/g; s/, within the uncertainty//; s/(under|over) # %/# %/g; s/ +/ /g'; }
members() { grep -oE "\"$1\": [0-9.e-]+" | sed 's/.*: //'; }

dos plan $small --format json -j 1 >"$out/a"
dos plan $small --format json -j 3 | cmp - "$out/a" && echo same
grep -o '"uncertainty": .*"n_conditions' "$out/a"
dos plan $small --format json --seed 2 | cmp -s - "$out/a" || echo another
echo "profile's part of the best's iteration: $(sed -nE '/"best"/,/^  }/s/.*"iteration_s": \{.*"parameter_frac": ([0-9.]{6}).*/\1/p' "$out/a")"
echo "policies: $(sed -n '/^  "policies"/,/^  ]/p' "$out/a" | members p_best | awk '{ p += $1 } END { print p }')"
echo "best and its changes: $(sed -n '/"p_best_unchanged"/p; /^  "changes"/,/^  ]/p' "$out/a" | members 'p_best(_unchanged)?' | awk '{ p += $1 } END { print p }')"
echo "== for people"
dos plan $small --policy dos:chain=duplex,zero3-offload,gpu-only --explain --uncertainty 30 >"$out/text"
sed -n '/^surely/,/^$/p; /^best of each/,/^+10/p' "$out/text" | masked
grep -c '^stride' "$out/text"
dos plan --hw rtx4090-pcie4 --model llama2-7b --host-mem 192GiB -q | grep 'e[+]0' # half widths of 100 tokens/s and more
echo "== for programs"
dos plan $small --policy zero3-offload --format csv | head -n 2 | masked
dos plan $small --policy zero3-offload --format csv --uncertainty 0 | head -n 1
dos plan $small --policy zero3-offload --uncertainty 0 --format json | grep -cE 'interval|p_best'
echo "== nothing to be sure of"
dos plan ${small/1500MiB/300MiB} --policy gpu-only
dos plan $small --policy dos --uncertainty 1
echo "exit $?"
echo "== recorded runs that cannot be read: there is a plan all the same"
mkdir -p "$out/alone/traces/recorded" && cp "$(command -v dos)" "$out/alone" && echo broken >"$out/alone/traces/recorded/published.csv"
"$out/alone/dos" plan $small --policy zero3-offload 2>"$out/note" >"$out/text"
echo "exit $?, $(grep -c '^surely' "$out/text"), $(grep -o 'no intervals: uncertainty' "$out/note")"
"$out/alone/dos" plan $small --policy zero3-offload --uncertainty 20 >/dev/null 2>&1
echo "exit $?"
