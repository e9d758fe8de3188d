# SPDX-License-Identifier: GPL-3.0-or-later
# Values that make no sense: the message names the option and what would be accepted, exit 2.
cd "$DOS_SRC/tests/data" || exit 1
try() { echo "\$ $*" >&2; dos simulate --hw ./tiny.json -q "$@"; echo "exit $?" >&2; }
try --model 7b --policy nonsense
try --model 7b --policy doss
try --model 7b --policy dos:strid=2
try --model 7b --policy dos:stride=-1
try --model 7b --policy dos:stride=1.5
try --model 7b --policy dos:stride=2,stride=3
try --model 7b --policy dos:stride
try --model 7b --policy dos:chain=sideways
try --model 7b --policy dos:buffers=2
try --model 7b --policy twinflow:ratio=1.5
try --model 7b --policy twinflow:ratio=-0.5
try --model 7b --policy hybrid:fraction=0.5,mask=01
try --model 7b --policy hybrid:mask=012
try --model 7b --policy gpu-only:stride=2
try --model 7b --policy stride=2
try --model 7b --policy dos,,hybrid
try --model 7b --policy dos:stride=4..2
try --model 7b --policy dos --gpus 0
try --model 7b --policy dos --gpus 3
try --model 7b --policy dos --mbs -1
try --model 7b --policy dos --mbs 1.5
try --model 7b --policy dos --seq many
try --model 7b --policy dos --layers 1e30
try --model 7b --policy dos --heads 7
try --model 7b --policy dos --kv-heads 5
try --model 7b --policy dos --subgroup 0
try --model 7b --policy dos --subgroup 10Q
try --model 7b --policy dos --threads 0
try --model 7b --policy zero3-offload --workers 4
try --model 7b --policy dos --scale dram
try --model 7b --policy dos --scale drm=2
try --model 7b --policy dos --scale dram=0
try --model 7b --policy dos --scale dram=-1
try --model 7b --policy dos --scale dram=2,dram=3
try --model 7b --policy dos --scale dram=2 --scale cpu=2,dram=3
try --policy dos --layers 2
try --policy dos --layers 2 --hidden 64 --heads 4 --ffn 128
