# SPDX-License-Identifier: GPL-3.0-or-later
# A small update on a real GPU, verified against the all-CPU reference; under compute-sanitizer where it is installed.
reason=$(dos-probe list 2>&1 >/dev/null)
if [ -n "$reason" ]; then
	echo "needs a GPU: ${reason#dos-probe: GPU cases are waived: }" >&2
	exit 77
fi
run() {
	"$@" dos-probe update --policy 'dos:stride=0;2' --policy 'dos:stride=2,chain=serial' --policy 'dos:stride=2,chain=duplex,buffers=2;4' \
		--policy 'hybrid:fraction=0.5;1' --subgroup 1000003 --subgroups 7 -n 1 -q -o runs.csv >table 2>log || { cat table log; exit 1; }
	awk -F '"' 'NR > 1 { split($3, cell, ","); split($2, name, /[:,]/); print name[1], name[2], name[3], "verified:", cell[9], "wrong:", cell[10] }' runs.samples.csv
}
run
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
[ -x "$sanitizer" ] || exit 0
run "$sanitizer" --tool memcheck --error-exitcode 9 >memcheck || cat memcheck
run "$sanitizer" --tool racecheck --error-exitcode 9 >racecheck || cat racecheck
