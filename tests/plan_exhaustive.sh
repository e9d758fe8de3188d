#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# plan_exhaustive.sh BIN [PLAN-OPTION..]: a plan against the simulation of every alternative, which takes minutes. Prints how long each
# took and how far the plan's best is from the best of all, for every policy; fails above 1 %. Default: 20b on h100-4x.
set -euo pipefail
bin=$1
shift
[ $# -gt 0 ] || set -- --hw h100-4x --model 20b
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

run() { # NAME OPTION..
	local name=$1 start=$EPOCHREALTIME
	shift
	"$bin/dos" plan "$@" --format json >"$folder/$name"
	echo "$name: $(awk "BEGIN { printf \"%.2f\", $EPOCHREALTIME - $start }") s, $(grep '"alternatives"' "$folder/$name" | tr -d '"{}' |
		sed 's/^ *alternatives: //; s/,$//')"
}

# "policy tokens/s" of the best of each policy that fits
rates() {
	sed -n '/^  "policies"/,/^  ]/p' "$1" | awk -F '[:,] *' '/"name"/ { name = $2 } /"fits"/ { fits = $2 } /"tokens_per_s"/ && fits == "true" { print name, $2 }' | sort
}

run plan "$@"
run exhaustive "$@" --exhaustive
join <(rates "$folder/exhaustive") <(rates "$folder/plan") | awk '
	{ loss = 1 - $3 / $2; printf "%s: %.9g tokens/s of %.9g, loss %.3g %%\n", $1, $3, $2, 100 * loss; worst = loss > worst ? loss : worst }
	END { printf "worst loss %.3g %%\n", 100 * worst; exit !(NR > 0 && worst <= 0.01) }'
