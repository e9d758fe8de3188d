#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks the recorded-run tables by themselves: columns, unique ids, policies, positive numbers, phases that add up.
# With the authors' raw results as one table (a row a run) it also compares every figure, both ways.
#   usage: tests/recorded_test.sh [RAW_RUNS.csv]      exit 0, or 1 with one line per failure
set -u
tables=$(dirname "$0")/../traces/recorded
raw=${1-}
[ -z "$raw" ] || [ -r "$raw" ] || { echo "$raw: cannot be read"; exit 1; }
awk=$(mktemp) || exit 1
trap 'rm -f "$awk"' EXIT

cat >"$awk" <<'AWK'
function fail(text) { print FILENAME ":" FNR ": " text; n_failures++ }

# RFC 4180 without line breaks inside a field (the tables hold none): sets cell[1..n], returns n.
function split_csv(line, cell,    n, at, c, text, quoted) {
	n = 0; text = ""; quoted = 0
	for (at = 1; at <= length(line); at++) {
		c = substr(line, at, 1)
		if (quoted && c == "\"" && substr(line, at + 1, 1) == "\"") { text = text c; at++ }
		else if (c == "\"") quoted = !quoted
		else if (c == "," && !quoted) { cell[++n] = text; text = "" }
		else text = text c
	}
	cell[++n] = text
	return quoted ? -1 : n
}

function is_number(text) { return text ~ /^[0-9]+(\.[0-9]+)?$/ }
function get(name) { return cell[column[name]] }
function differs(got, want, tolerance) { return got - want > tolerance || want - got > tolerance }

function check_numbers(    i, name) {
	for (i = 1; i <= n_numeric; i++) {
		name = numeric[i]
		if (get(name) == "") continue
		if (!is_number(get(name))) fail(id ": " name " is not a number: " get(name))
		else if (get(name) + 0 <= 0 && name != "other_s") fail(id ": " name " is not positive")
	}
}

function check_phases() {
	if (get("forward_s") == "" || get("backward_s") == "" || get("update_s") == "" || get("other_s") == "" ||
	    get("iteration_s") == "") return
	if (differs(get("forward_s") + get("backward_s") + get("update_s") + get("other_s"), get("iteration_s") + 0, 0.001))
		fail(id ": phases do not add up to iteration_s")
}

function check_row(    policy) {
	if (id in seen) fail(id ": id used twice")
	seen[id] = 1
	if (id !~ /^[a-z0-9][a-z0-9.-]*$/) fail("id \"" id "\": lower case, digits, '.' and '-' would be accepted")
	policy = get("policy"); sub(/:.*/, "", policy)
	if (!(policy in known)) fail(id ": unknown policy " policy)
	check_numbers()
	check_phases()
	if (get("hw") == "" || get("source") == "" || get("gpus") == "" || get("subgroup") == "") fail(id ": hw, gpus, subgroup or source is empty")
	if (get("update_s") == "" && get("iteration_s") == "" && get("forward_s") == "") fail(id ": nothing measured")
	if ((get("model") != "") + (get("layers") != "") + (get("n_subgroups") != "") != 1)
		fail(id ": one of model, shape and n_subgroups would be accepted")
	if (get("checkpointing") !~ /^(on|off)?$/) fail(id ": checkpointing: on or off would be accepted")
}

# What identifies a run in both tables: folder, gpus, subgroup, policy.
function recorded_key(    folder) {
	if (!match(get("source"), /(act|deep-optimizer-states)-output-[^;,]*/)) return ""
	folder = substr(get("source"), RSTART, RLENGTH)
	return folder "|" get("gpus") "|" get("subgroup") "|" get("policy")
}
function remember(    key, i) {
	key = recorded_key()
	if (key == "") return
	if (key in recorded) fail(id ": the same run as " recorded[key])
	recorded[key] = id
	for (i = 1; i <= n_columns; i++) value[id, header[i]] = cell[i]
}

function raw_policy(    ratio) {
	ratio = get("twinflow_cpu_ratio") + 0
	if (get("approach") == "zero3_offload") return "zero3-offload:flush=blocking"
	if (get("approach") == "dos_backward_only") return "zero3-offload:flush=async"
	if (get("approach") == "twinflow") return "twinflow:ratio=" ratio ",mode=serial,flush=blocking"
	if (get("approach") == "dos_backward_only+twinflow") return "twinflow:ratio=" ratio ",mode=serial,flush=async"
	return "dos:stride=" get("update_stride") (ratio < 1 ? ",ratio=" ratio : "")
}
function compare(name, want, tolerance) {
	if (differs(value[id, name] + 0, want, tolerance)) fail(id ": " name " " value[id, name] ", raw " sprintf("%.12g", want))
}
function is_unbound() { return get("set") ~ /scale-DP|subg-size/ }
function raw_params(    layers, hidden, kv, model) {
	model = value[id, "model"]
	if (model == "7b") return 5948837888
	if (model == "10b") return 9918500864
	if (model == "20b") return 15326663680
	if (model == "20b-a100") return 15579222016
	layers = value[id, "layers"]; hidden = value[id, "hidden"]; kv = value[id, "kv_heads"] * hidden / value[id, "heads"]
	return layers * (2 * hidden * hidden + 2 * hidden * kv + 3 * hidden * value[id, "ffn"] + 2 * hidden) \
	    + 2 * value[id, "vocab"] * hidden + hidden
}
function compare_row(    key, gib, peak, machine) {
	if (get("dp") + 0 > 4) return # several nodes
	key = get("set") "|" get("dp") "|" get("subgroup_size_param") "|" raw_policy()
	if (!(key in recorded)) { fail("not recorded: " key); return }
	id = recorded[key]
	matched[key] = 1
	gib = 1073741824
	machine = (get("gpu") ~ /^H100/ ? "h100-4x" : "a100-4x") (is_unbound() ? "-unbound" : "")
	if (value[id, "hw"] != machine) fail(id ": hw " value[id, "hw"] ", raw " machine)
	compare("mbs", get("micro_batch") + 0, 0)
	compare("grad_accum", get("grad_accum") + 0, 0)
	compare("seq", get("seq_len") + 0, 0)
	if (raw_params() != get("params_total") + 0) fail(id ": parameters " sprintf("%.12g", raw_params()) ", raw " get("params_total"))
	compare("forward_s", get("fwd_ms") / 1000, 1e-6)
	compare("backward_s", get("bwd_ms") / 1000, 1e-6)
	compare("update_s", get("step_ms") / 1000, 1e-6)
	compare("iteration_s", get("interval_s") + 0, 1e-6)
	peak = get("maxma_after_bwd_GB") + 0
	if (get("maxma_after_step_GB") + 0 > peak) peak = get("maxma_after_step_GB") + 0
	compare("gpu_peak_bytes", peak * gib, 1)
	compare("host_peak_bytes", get("host_used_GB") * gib - 43e9, 1)
	if ((get("note") ~ /exclude/) != (value[id, "exclude"] != "")) fail(id ": exclude and the raw note disagree")
}

BEGIN {
	expected = "id,hw,model,layers,hidden,heads,kv_heads,ffn,vocab,seq,gpus,mbs,grad_accum,checkpointing,policy,subgroup," \
	    "n_subgroups,threads,forward_s,backward_s,update_s,other_s,iteration_s,gpu_peak_bytes,host_peak_bytes,exclude,source"
	n = split("zero3-offload twinflow dos hybrid gpu-only", word, " ")
	for (i = 1; i <= n; i++) known[word[i]] = 1
	n_numeric = split("layers hidden heads kv_heads ffn vocab seq gpus mbs grad_accum subgroup n_subgroups threads " \
	    "forward_s backward_s update_s other_s iteration_s gpu_peak_bytes host_peak_bytes", numeric, " ")
}
{ sub(/\r$/, ""); n = split_csv($0, cell) }
FNR == 1 {
	is_raw = FILENAME == raw
	if (!is_raw && $0 != expected) fail("the header is not the expected one")
	for (name in column) delete column[name]
	for (i = 1; i <= n; i++) { column[cell[i]] = i; header[i] = cell[i] }
	n_columns = n
	next
}
n != n_columns { fail(n < 0 ? "a quote is not closed" : n " columns, " n_columns " expected"); next }
is_raw { compare_row(); next }
{ id = get("id"); check_row(); remember() }
END {
	if (raw != "") for (key in recorded) if (!(key in matched)) { print recorded[key] ": not in " raw; n_failures++ }
	exit n_failures > 0
}
AWK

for table in published published_unbound h200; do
	[ -r "$tables/$table.csv" ] || { echo "$tables/$table.csv: cannot be read"; exit 1; }
done
LC_ALL=C awk -v raw="$raw" -f "$awk" "$tables/published.csv" "$tables/published_unbound.csv" "$tables/h200.csv" \
	${raw:+"$raw"}
