# SPDX-License-Identifier: GPL-3.0-or-later
# What dos plot refuses, and its exit status.
try() {
	local status=0
	"$@" || status=$?
	echo "$status: ${*:3}"
}
trial=(--hw h100-4x --model 7b)
exec 2>&1
try dos plot
try dos plot strides "${trial[@]}" -o a.svg
try dos plot stride "${trial[@]}"
try dos plot stride "${trial[@]}" -o a.jpg
try dos plot stride "${trial[@]}" -o -
try dos plot stride -o a.svg
try dos plot stride "${trial[@]}" --db x.db -o a.svg
try dos plot gantt --db x.db -o a.svg
try dos plot stride --run x.json -o a.svg
try dos plot stride "${trial[@]}" --where 1 -o a.svg
try dos plot stride "${trial[@]}" --format json -o a.svg
try dos plot stride "${trial[@]}" --policy hybrid -o a.svg
try dos plot fraction "${trial[@]}" --policy dos -o a.svg
try dos plot heatmap "${trial[@]}" --policy dos:stride=2 -o a.svg
try dos plot gantt --hw h100-4x --model 7b,13b -o a.svg
try dos plot stride --hw nowhere --model 7b -o a.svg
try dos plot gantt --run absent.json -o a.svg
echo '{"schema": "dos-trace/1", "traceEvents": []}' >empty.json
try dos plot gantt --run empty.json -o a.svg
try dos plot validation --run empty.json -o a.svg
echo '{"traceEvents": []}' >other.json
try dos plot memory --run other.json -o a.svg
try dos plot stride "${trial[@]}" -o absent/a.svg
dos=$(command -v dos)
PATH=/nonexistent try "$dos" plot stride "${trial[@]}" -o a.svg
ls
