# SPDX-License-Identifier: GPL-3.0-or-later
# Results without contention, on a profile of round numbers.
cd "$DOS_SRC/tests/data" || exit 1
small='--hw ./tiny.json --contention none --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --subgroup 10M'
dos simulate $small --policy zero3-offload
dos simulate $small --policy zero3-offload,twinflow:ratio=0.5,dos,hybrid --policy 'dos:stride=2..3'
dos simulate $small --policy gpu-only,dos:stride=2 --format csv
dos simulate $small --policy dos:stride=2 --format json
dos simulate $small --policy dos:stride=2,workers=1 --policy dos:stride=3 --workers 4 --format csv | cut -d, -f 3-9
dos simulate --hw ./tiny.json --contention none --n-subgroups 8 --subgroup 50M --gpus 1 --policy dos:stride=2
