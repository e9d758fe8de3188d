# SPDX-License-Identifier: GPL-3.0-or-later
# The keys of the contract, the formats and the remarks. Numbers: unit tests.
cd "$DOS_SRC/tests/data" || exit 1
run() { dos model --hw ./tiny.json --n-subgroups 24 --subgroup 50M --gpus 1 "$@"; }
run --format json | grep -oE '^  "[a-z_]+"'
run --format json | sed -n '/"strides"/,$p' | sed -n 2p | grep -oE '"[a-z_]+":'
run --format csv | sed -n 1p
run --format csv | wc -l
run | sed -E 's/[0-9.]+/N/g; s/ +/ /g' | sed -n '1,5p;/^stride_opt/,$p'
run --policy hybrid:fraction=0.5 --format csv | head -n 2 | cut -d, -f1,2
run --policy dos:chain=duplex,buffers=3 --format json | grep '"policy"' | sed 's/stride=[0-9]*/stride=K/'
dos model --hw rtx4090-pcie4 --model llama2-7b | grep -c '^fits  *no: needs .* of GPU memory'
dos model --hw a100-4x --model llama2-7b | grep "^step start"
