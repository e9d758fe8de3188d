#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh BIN: what dos does, in less than a minute: the five models of the paper on its H100 node under every policy, what the
# best stride is, and a timeline in out/.
set -euo pipefail

dos=$1/dos
[ -x "$dos" ] || { echo "$dos is not built: make all" >&2; exit 4; }
hw=h100-4x
policies='zero3-offload,zero3-offload:flush=async,twinflow:ratio=0.8,dos,dos:chain=duplex,hybrid,gpu-only'

echo "One iteration on $hw; speed-up over zero3-offload"
for model in 7b 10b 13b 20b 30b; do
	printf '\n%s\n' "$model"
	status=0
	"$dos" simulate --hw $hw --model $model --policy "$policies" -q 2>/dev/null || status=$?
	[ $status -le 1 ] || { echo "dos simulate --model $model failed" >&2; exit $status; } # 1: a policy does not fit
done

printf '\nThe update of 20b for every stride\n\n'
"$dos" model --hw $hw --model 20b

printf '\nHow far this is from the recorded runs\n\n'
"$dos" validate --set published | sed '/^Errors of rows in/,$d'

mkdir -p out
"$dos" simulate --hw $hw --model 20b --policy dos -q --trace out/20b-dos.json >/dev/null
printf '\nTimeline for https://ui.perfetto.dev: out/20b-dos.json\n'
