# SPDX-License-Identifier: GPL-3.0-or-later
cd "$DOS_SRC/tests/data" || exit 1
dos profile show ./tiny.json | grep -v ' default$' | sed 's/ *$//'
dos profile show ./tiny.json --format csv | sed -n '1p;/dram_Bps/p;/^tiny,h2d,/p'
dos profile check - <tiny.json
sed 's/"dram_Bps": {"value": 200e9/"dram_Bps": {"value": 204e9/; s/50e9\]\]/55e9]]/; s/"gpus": 2/"gpus": 4/' tiny.json |
	dos profile diff ./tiny.json -
dos profile diff ./tiny.json ./tiny.json
root='"pcie_root_Bps": {"value": 201e9, "kind": "measured"}, '
# A root of one GPU that gives more than the GPU takes; one that two share; one that limits the GPU.
sed "s/\"values\": {/&$root/" tiny.json | dos profile check -
sed "s/\"values\": {/&$root/; s/\"gpus_per_pcie_root\": 1/\"gpus_per_pcie_root\": 2/" tiny.json | dos profile check -
sed "s/\"values\": {/&$root/; s/201e9/30e9/" tiny.json | dos profile check -
sed "s/\"values\": {/&$root/" tiny.json | dos profile diff ./tiny.json -
sed "s/\"values\": {/&$root/" tiny.json | dos profile diff ./tiny.json - --format json | grep root
