#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# peers.sh [FLOWS]: completions a second of the engine and of SimGrid and SimPy on the same flows over shared links, one after another, as
# medians and spread of several draws, with one kind of operation a lane and with all kinds; a peer that is not installed is skipped.
# Flows, FLOWS of them for SimPy (4000): tests/simgrid/compare.c.
set -euo pipefail
cd "$(dirname "$0")/.."
flows=$(mktemp -d)
trap 'rm -rf "$flows"' EXIT

make --no-print-directory -s simgrid SIMGRID=bench
python=$(for name in python3 /usr/bin/python3; do ! "$name" -c 'import simpy' 2>/dev/null || { echo "$name"; break; }; done)
if [ -z "$python" ]; then
	echo 'simpy: skipped, not installed (apt-get install python3-simpy3)'
	exit
fi
make --no-print-directory -s build/release/flows
for ranks in 2 4 8; do
	for kinds in few many; do
		for seed in 1 2 3; do
			build/release/flows flows "$ranks" "${1:-4000}" "$kinds" "$seed" >"$flows/$seed"
		done
		"$python" tests/peers_simpy.py "$flows"/[123] | sed "s/\"n_flows\"/\"ranks\": $ranks, \"kinds\": \"$kinds\", &/"
	done
done
