# SPDX-License-Identifier: GPL-3.0-or-later
# How far predictions may be from recorded runs: rows outside the fit, mean and worst or 90th percentile. A gate that fails prints
# its figure; model/ACCURACY.md has all figures. The number of rows is part of the expected output: no gate passes on nothing.
gates='
set              quantity       of    limit_%
published        update_s       mape      3
published        update_s       max      10
published        sum_phases_s   mape      4
published        sum_phases_s   max      12
published        backward_s     mape      5
published        forward_s      mape      7
published        gpu_peak_bytes mape      8
published        speedup        mape      5
published        stride         loss      2
h200             update_s       mape      7
h200             update_s       p90      16
h200-probe-runs  update_s       mape      5
h200-probe-runs  update_s       p90      12
h200-probe1      update_s       mape      5
h200-probe1      update_s       p90      12
h200-probe1      choice         loss      2
h200-probe2      update_s       mape      5
h200-probe2      update_s       p90      12
h200-probe2      choice         loss      2
h200-2x-probe-runs update_s     mape      6
h200-2x-probe-runs update_s     p90      15
h200-2x-later    update_s       mape      6
h200-2x-later    update_s       p90      15
'
samples=$DOS_SRC/traces/recorded/samples
for set in published h200 h200-probe-runs h200-probe1 h200-probe2 h200-2x-probe-runs h200-2x-later; do
	case $set in
	h200-probe[12]) dos validate --set h200-probe-runs --hw "$samples/$(echo $set | tr - _).json" --format json ;;
	*later) dos validate --set "$samples/h200_2x_later_runs.csv" --hw h200-2x-probed --format json ;;
	*) dos validate --set $set --format json ;;
	esac >$set.json || exit
	sed -n 's/^  "n_\(.*\)": \([0-9]*\),$/\1 \2/p' $set.json | tr '\n' ' ' | sed "s/^/$set: /; s/ $//"
	echo
done
echo "$gates" | while read -r set quantity of limit; do
	[ -f "$set.json" ] || continue
	case $quantity in
	# Among all rows: what is predicted best, over what is best.
	choice) found=$(sed -n 's/.*"quantity": "update_s".*"measured": \([0-9.e-]*\), "predicted": \([0-9.e-]*\),.*/\1 \2/p' "$set.json" |
		awk 'NR == 1 || $1 < best {best = $1} NR == 1 || $2 < least {least = $2; own = $1} END {if (NR) print own / best - 1}') ;;
	stride) found=$(grep -o '"max_loss_frac": [0-9.e-]*' "$set.json") ;;
	speedup) found=$(tr -d '\n' <"$set.json" | grep -oE '"speedup": \{ *"quantity": "[a-z_]*", *"n": [1-9][0-9]*, *"mape_frac": [0-9.e-]*') ;;
	*) found=$(grep -m 1 "^    \"$quantity\": {\"n\": [1-9]" "$set.json" | grep -oE "\"${of}_(ape_)?frac\": [0-9.e-]*") ;;
	esac
	awk -v name="$set $quantity $of" -v value="${found##* }" -v limit="$limit" 'BEGIN {
		is_inside = value != "" && 100 * value <= limit
		print name, (is_inside ? "at most" : sprintf("is %.2f %%, outside", 100 * value)), limit, "%"
	}'
done
