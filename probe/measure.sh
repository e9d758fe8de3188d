#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# measure.sh OUT [STAGE..]: measures a machine with bin/dos-probe (PROBE names another) into the folder OUT, a stage at a time:
#   probe-NAME     dos-probe run, full: OUT/NAME.json and .txt
#   update-NAME    dos-probe update over the points of one GPU, a process: OUT/NAME.csv, .samples.csv
#   gpus-NAME      dos-probe update over the points of several GPUs, on 1, 2, .. of them at once: OUT/NAME-1gpu.csv, ..
#   trace          published and hybrid at all threads, with a Chrome trace: OUT/trace-published.json, OUT/trace-hybrid.json
#   points, gpus   only print those points
# Default: probe-probe1 update-runs1 update-runs2 update-runs3 probe-probe2. Names that end in 1 are verified, others only timed.
# After each stage OUT/runs.csv has the medians over the processes so far.
# HW names the profile in the rows, NOTE goes into them, REPEATS (3) are updates of every point in a process; SHRINK divides the
# subgroups, to try the script out.
set -euo pipefail
out=$1
shift
[ $# -gt 0 ] || set -- probe-probe1 update-runs1 update-runs2 update-runs3 probe-probe2
mkdir -p "$out"
probe=${PROBE:-$(cd "$(dirname "$0")/.." && pwd)/bin/dos-probe}
threads=${THREADS:-$(nproc)}
n_gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)}
shrink=${SHRINK:-1}

# cuBLASLt where the loader does not look: the toolkit's folder, or that of a Python package.
if [ -z "${LD_LIBRARY_PATH:-}" ]; then
	lt=$(find /usr/local/cuda*/ /opt /usr/lib -name 'libcublasLt.so.1[1-9]' 2>/dev/null | head -n 1 || true)
	[ -z "$lt" ] || export LD_LIBRARY_PATH=${lt%/*}
fi

# line THREADS SPEC: the point for all sizes; nothing where there are too few threads.
line() {
	[ "$1" -lt 1 ] || echo "$2 $((size / shrink)) $n $1"
}

# The same for all sizes and both numbers of hardware threads, the downscale worker's included.
common() {
	local total=$1 w=$(($1 >= 8 ? 2 : 1)) strides='0;2;3;4' serial='2;3' fractions='0.45;0.5;0.55;0.6'
	local split=$fractions
	if [ "$total" = "$threads" ]; then
		strides='0;2;3;4;8' serial='2;3;4' fractions='0.35;0.4;0.45;0.5;0.55;0.6' split='0.4;0.45;0.5;0.55'
		line $((total - 2 * w)) "dos:stride=2,workers=$((2 * w))"
	fi
	line $((total - w)) "dos:stride=$strides,workers=$w"
	line $((total - w)) "dos:stride=$serial,chain=serial,workers=$w"
	line $((total - 1)) "dos:stride=2,workers=1"
	line $((total - 1)) "dos:stride=2,chain=serial,workers=1"
	line $((total - w)) "dos:stride=2,chain=duplex,buffers=2,workers=$w"
	line "$total" "dos:stride=2,chain=duplex,buffers=3,downscale=fused,grads=bf16"
	line "$total" "hybrid:fraction=$fractions"
	line "$total" "hybrid:fraction=$split,downscale=split"
	line $((total - 1)) "hybrid:fraction=0.5" # a core for the copies
}

# Of the large subgroups at all threads: every stride, splits, buffers, the ends of the fraction.
more() {
	local w=$((threads >= 8 ? 2 : 1))
	line $((threads - w)) "dos:stride=5;6;7;9;10,workers=$w"
	line $((threads - w)) "dos:stride=5;6;7;8;9;10,chain=serial,workers=$w"
	line $((threads - 1)) "dos:stride=3,workers=1"
	line $((threads - 2 * w)) "dos:stride=3,workers=$((2 * w))"
	line $((threads - 2 * w)) "dos:stride=2,chain=serial,workers=$((2 * w))"
	line "$threads" "dos:stride=2,workers=$w" # shared cores
	line $((threads - w)) "dos:stride=2,chain=duplex,buffers=3;4,workers=$w"
	line "$threads" "dos:stride=2,chain=duplex,buffers=2;4,downscale=fused,grads=bf16"
	line "$threads" "hybrid:fraction=0;0.25;0.7;0.75;1"
	line "$threads" "hybrid:fraction=0;1,downscale=split"
	line "$threads" "hybrid:fraction=0.5,buffers=2;4"
	line $((threads - 1)) "hybrid:fraction=0.45;0.55"
	line $((threads - 2)) "hybrid:fraction=0.45;0.5;0.55"
}

# Two sizes of the same 1.2 G parameters.
points() {
	local size n total
	for size in 100000000 50000000; do
		n=$((1200000000 / size))
		for total in "$threads" $((threads / 2)); do
			common "$total"
		done
		[ "$size" != 100000000 ] || more
	done
}

# Threads of one GPU: an even share of all, and half of that; the worker's included.
gpus_points() {
	local size=50000000 n=24 share=$((threads / (n_gpus > 0 ? n_gpus : 1))) total w
	for total in "$share" $((share / 2)); do
		w=$((total >= 8 ? 2 : 1))
		line $((total - w)) "dos:stride=0;2;3;4;8,workers=$w"
		line "$total" "hybrid:fraction=0.25;0.5;0.75;1"
		line "$total" "hybrid:fraction=0.5;0.75,downscale=split"
	done
}

update() { # NAME GPUS POINTS
	local verify=--no-verify
	case $1 in *1 | *1-*) verify= ;; esac
	"$3" | "$probe" update --points - -q -n "${REPEATS:-3}" --gpus "$2" $verify --hw "${HW:-probed}" --note "${NOTE:-}" \
		-o "$out/$1.csv" >"$out/$1.txt"
}

merge() {
	local csv kind runs
	for kind in 'runs[0-9]*' 'runs[0-9]*-[0-9]*gpu'; do
		runs=()
		for csv in "$out"/$kind.csv; do
			case $csv in *.samples.csv | *'*'*) ;; *gpu.csv) [[ $kind != *gpu ]] || runs+=("$csv") ;; *) runs+=("$csv") ;; esac
		done
		[ ${#runs[@]} -lt 2 ] || "$probe" merge "${runs[@]}" -o "$out/runs$([[ $kind != *gpu ]] || echo -gpus).csv"
	done
}

for stage in "$@"; do
	name=${stage#*-}
	start=$SECONDS
	case $stage in
	points) points; continue ;;
	gpus) gpus_points; continue ;;
	probe-*) "$probe" run -q -o "$out/$name.json" --name "${HW:-probed}" --note "${NOTE:-}" >"$out/$name.txt" ;;
	update-*) update "$name" 1 points ;;
	gpus-*)
		for ((g = 1; g <= n_gpus; g *= 2)); do
			update "$name-${g}gpu" "$g" gpus_points
		done
		;;
	trace)
		[ "$shrink" = 1 ] && size=100M || size=1M
		"$probe" update -q -n 1 --subgroup $size --policy "dos:stride=2,workers=2" --threads $((threads - 2)) \
			--trace "$out/trace-published.json" >"$out/trace-published.txt"
		"$probe" update -q -n 1 --subgroup $size --policy "hybrid:fraction=0.5,hybrid:fraction=0.5,downscale=split" --threads "$threads" \
			--trace "$out/trace-hybrid.json" >"$out/trace-hybrid.txt"
		;;
	*) echo "measure.sh: unknown stage '$stage'" >&2; exit 2 ;;
	esac
	merge
	echo "$stage took $((SECONDS - start)) s"
done
