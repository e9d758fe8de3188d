# SPDX-License-Identifier: GPL-3.0-or-later
# Two probes of one machine become one profile; the shipped one is that of the recorded probes.
cp "$DOS_SRC/tests/data/tiny.json" a.json
sed 's/"dram_Bps": {"value": 200e9/"dram_Bps": {"value": 204e9/; s/50e9\]\]/55e9]]/; s/2026-01-01/2026-01-02/' a.json >b.json
dos profile merge a.json b.json --name joined -o joined.json
cat joined.json
dos profile check ./joined.json
sed 's/"gpus": 2/"gpus": 4/' a.json >other.json
dos profile merge ./a.json ./other.json -o none.json; echo "exit $?"
dos profile merge ./a.json >single.json; echo "exit $?"
dos profile show ./a.json --name x; echo "exit $?"
sed 's/"summary"/"summary" /' a.json >copy.json
dos profile merge ./a.json ./b.json ./copy.json -o none.json; echo "exit $?"
# A newer probe knows the root of both GPUs, the older one does not, in whatever order.
sed 's/"values": {/&"pcie_root_Bps": {"value": 40e9, "kind": "measured", "source": "copies"}, /; s/"gpus_per_pcie_root": 1/"gpus_per_pcie_root": 2/' \
	b.json >newer.json
dos profile merge a.json newer.json | grep pcie_root | tee root.txt
dos profile merge newer.json a.json | grep pcie_root | diff root.txt -
sed 's/"gpus_per_pcie_root": 2/"gpus_per_pcie_root": 1/' newer.json >one.json
dos profile merge a.json newer.json one.json; echo "exit $?"
ls
# The constants of loaded DRAM of two recorded probes have intervals, which overlap.
for i in 1 2; do
	dos profile merge "$DOS_SRC/traces/recorded/samples/h200_probe$i.json" -o $i.json
done
dos profile diff ./1.json ./2.json | grep -E '^dram_latency|_load |_latency_frac'
echo
cd "$DOS_SRC" || exit 1
dos profile merge traces/recorded/samples/h200_probe1.json traces/recorded/samples/h200_probe2.json |
	diff - hwprofiles/h200-probed.json | grep '^[<>]' | cut -c 1-100
