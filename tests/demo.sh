#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh BIN: the main job on a shipped profile, in less than two minutes: the five models of the paper on its H100 node under
# every policy and stride; a planner's table, a database, a trace and every kind of plot in out/.
set -euo pipefail

dos=$1/dos
[ -x "$dos" ] || { echo "$dos is not built: make all" >&2; exit 4; }
hw=h100-4x
models=7b,10b,13b,20b,30b
mkdir -p out
rm -f out/demo.db out/demo.db-wal out/demo.db-shm

heading() { printf '\n== %s\n\n' "$*"; }

heading "Sweep: $models on $hw, every policy, strides, ratios and fractions -> out/demo.db"
"$dos" sweep --hw $hw --model $models --db out/demo.db -j 2 \
	--policy zero3-offload --policy zero3-offload:flush=async --policy gpu-only \
	--policy 'twinflow:ratio=0..1:0.1' --policy 'dos:stride=0..10' --policy 'dos:stride=0..10,chain=duplex,buffers=2' \
	--policy 'hybrid:fraction=0..1:0.05'

heading 'Every policy: dos and hybrid at the optimum of the closed form for the update, twinflow at 0.8 on the host'
for model in ${models//,/ }; do
	printf '%s\n' "$model"
	status=0
	"$dos" simulate --hw $hw --model "$model" -q \
		--policy 'zero3-offload,zero3-offload:flush=async,twinflow:ratio=0.8,dos,dos:chain=duplex,hybrid,gpu-only' || status=$?
	[ $status -le 1 ] || { echo "dos simulate --model $model failed" >&2; exit $status; } # 1: a policy does not fit
	echo
done

heading 'The update of 20b for every stride, in closed form'
"$dos" model --hw $hw --model 20b

heading 'How far predictions are from the recorded runs of the paper'
"$dos" validate --set published | sed '/^Errors of rows in/,$d'

heading 'Plots and a timeline'
"$dos" simulate --hw $hw --model 20b --policy dos -q --trace out/20b-dos.json >/dev/null
plot() { kind=$1; shift; "$dos" plot "$kind" "$@" -o "out/$kind.svg" && "$dos" plot "$kind" "$@" -o "out/$kind.png"; }
plot stride --db out/demo.db --where "model = '20b' and policy like 'dos:%'"
plot phases --db out/demo.db
plot fraction --db out/demo.db --where "model = '20b' and policy like 'hybrid:%'"
plot heatmap --hw $hw --model 20b
plot validation --set published
plot memory --run out/20b-dos.json
plot gantt --run out/20b-dos.json
ls -1 out
printf '\nTables above; query the database: bin/dos db query out/demo.db; timeline: open out/20b-dos.json in https://ui.perfetto.dev\n'
