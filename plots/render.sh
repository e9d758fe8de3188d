#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# render.sh BIN FOLDER: the figures of the documentation, each as svg and png.
set -euo pipefail

dos=$1/dos
out=$2
mkdir -p "$out"
for suffix in svg png; do
	"$dos" plot stride --hw h100-4x --model 7b,13b,20b -o "$out/stride.$suffix"
	"$dos" plot phases --hw h100-4x --model 7b,8.3b,10b,13b,20b -o "$out/phases.$suffix"
	"$dos" plot fraction --hw h200-vm --model 7b -o "$out/fraction.$suffix"
	"$dos" plot heatmap --hw a100-4x --model 7b -o "$out/heatmap.$suffix"
	"$dos" plot validation --set published -o "$out/validation.$suffix"
	"$dos" plot calibration --set published --set h200 -o "$out/calibration.$suffix"
	"$dos" plot memory --hw h100-4x --model 20b --policy dos -o "$out/memory.$suffix"
	"$dos" plot whatif --hw h100-4x --model 20b -o "$out/whatif.$suffix"
	"$dos" plot pareto --hw h100-4x --model 20b -o "$out/pareto.$suffix"
	"$dos" plot capacity --hw h100-4x --model 20b -o "$out/capacity.$suffix"
	"$dos" plot gantt --hw h100-4x --model 20b --policy dos -o "$out/gantt.$suffix"
done
echo "$out: stride, phases, fraction, heatmap, validation, calibration, memory, whatif, pareto, capacity and gantt as svg and png"
