#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# measure.sh OUT [STAGE..]: measures a machine with bin/dos-probe (PROBE names another) into the folder OUT.
#   probe-NAME     dos-probe run, full: OUT/NAME.json and .txt
#   update-NAME    dos-probe update over the points of `points`, one process: OUT/NAME.csv, .samples.csv
#   trace          published and hybrid at all threads, with a Chrome trace: OUT/trace.json
#   points         only prints the points
# Default: probe-probe1 update-runs1 update-runs2 update-runs3 probe-probe2, then OUT/runs.csv with the medians over processes.
# HW names the profile in the rows, NOTE goes into them, REPEATS (5) are updates of every point in a process.
set -euo pipefail
out=$1
shift
[ $# -gt 0 ] || set -- probe-probe1 update-runs1 update-runs2 update-runs3 probe-probe2
mkdir -p "$out"
probe=${PROBE:-$(cd "$(dirname "$0")/.." && pwd)/bin/dos-probe}
threads=${THREADS:-$(nproc)}

# cuBLASLt where the loader does not look: the toolkit's folder, or that of a Python package.
if [ -z "${LD_LIBRARY_PATH:-}" ]; then
	lt=$(find /usr/local/cuda*/ /opt /usr/lib -name 'libcublasLt.so.1[1-9]' 2>/dev/null | head -n 1 || true)
	[ -z "$lt" ] || export LD_LIBRARY_PATH=${lt%/*}
fi

# Two sizes of the same 1.2 G parameters; all hardware threads and half of them, the downscale worker's included.
points() {
	local size total w half=$((threads / 2))
	for size in '100M 12' '50M 24'; do
		for total in "$threads" $half; do
			w=$((threads >= 8 ? 2 : 1))
			echo "dos:stride=0;2;3;4;6;8,workers=$w $size $((total - w))"
			echo "dos:stride=2,workers=$((2 * w)) $size $((total - 2 * w))"
			echo "dos:stride=2,chain=serial,workers=$w $size $((total - w))"
			echo "dos:stride=2,chain=duplex,buffers=2,workers=$w $size $((total - w))"
			echo "hybrid:fraction=0.333;0.4;0.5;0.6 $size $total"
		done
		echo "dos:stride=2,workers=1 $size $((threads - 1))"
		[ "$size" = '100M 12' ] || continue
		echo "dos:stride=3,workers=4 $size $((threads - 4))"
		echo "dos:stride=2,workers=2 $size $threads" # shared cores
		echo "dos:stride=2,workers=1 $size $((half - 1))"
		echo "dos:stride=3,chain=serial,workers=2 $size $((threads - 2))"
		echo "dos:stride=2,chain=duplex,buffers=3,downscale=fused,grads=bf16 $size $threads"
		echo "hybrid:fraction=0;0.25;0.75;1 $size $threads"
		echo "hybrid:fraction=0.4;0.5 $size $((threads - 1))" # one core reserved for the copies
		echo "hybrid:fraction=0.4,buffers=2;4 $size $threads"
		echo "hybrid:fraction=0.667 $size $half"
	done
}

for stage in "$@"; do
	name=${stage#*-}
	case $stage in
	points) points; continue ;;
	probe-*) "$probe" run -q -o "$out/$name.json" --name "${HW:-probed}" --note "${NOTE:-}" >"$out/$name.txt" ;;
	update-*)
		points | "$probe" update --points - -q -n "${REPEATS:-5}" --hw "${HW:-probed}" --note "${NOTE:-}" \
			-o "$out/$name.csv" >"$out/$name.txt"
		;;
	trace)
		"$probe" update -q -n 1 --policy "dos:stride=2,workers=2" --threads $((threads - 2)) --trace "$out/trace-published.json"
		"$probe" update -q -n 1 --policy "hybrid:fraction=0.5,hybrid:fraction=0.6" --threads "$threads" --trace "$out/trace-hybrid.json"
		;;
	*) echo "measure.sh: unknown stage '$stage'" >&2; exit 2 ;;
	esac
	echo "$stage done after $SECONDS s"
done

runs=()
for csv in "$out"/runs[0-9]*.csv; do
	case $csv in *.samples.csv | *'*'*) ;; *) runs+=("$csv") ;; esac
done
[ ${#runs[@]} -lt 2 ] || "$probe" merge "${runs[@]}" -o "$out/runs.csv"
