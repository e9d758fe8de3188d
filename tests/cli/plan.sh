# SPDX-License-Identifier: GPL-3.0-or-later
# Plans on a profile of round numbers: the report, why nothing fits, other formats, threads that change nothing.
cd "$DOS_SRC/tests/data" || exit 1
small='--hw ./tiny.json --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --seq 1024'
dos plan $small --gpu-mem 4GiB --explain
echo "== fixed by flags"
dos plan $small --mbs 2 --subgroup 50M --checkpointing on --policy dos:ratio=1,zero3-offload --tokens-per-batch 8192 --workers 2
echo "== nothing fits"
dos plan $small --gpu-mem 700MiB --host-mem 2GiB --policy gpu-only,hybrid:fraction=0.5 --mbs 1
echo "exit $?"
echo "== formats"
dos plan $small --gpu-mem 4GiB --policy dos:chain=duplex,ratio=1,twinflow:mode=serial --mbs 1 --format csv -j 1 >"$OLDPWD/one.csv"
dos plan $small --gpu-mem 4GiB --policy dos:chain=duplex,ratio=1,twinflow:mode=serial --mbs 1 --format csv -j 3 | cmp - "$OLDPWD/one.csv"
cat "$OLDPWD/one.csv"
dos plan $small --gpu-mem 4GiB --policy twinflow:mode=serial,flush=async,ratio=0.5 --mbs 1 --checkpointing on --subgroup 10M --explain --format json
echo "== misuse"
dos plan $small --tokens-per-batch 1000
dos plan $small --n-subgroups 4
dos plan $small --policy dos:strid=2
dos plan $small --ds-config x.json
dos plan $small --fork
dos plan $small extra
true
