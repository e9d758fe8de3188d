# SPDX-License-Identifier: GPL-3.0-or-later
# Every kind in svg and png, without a word from gnuplot: size, text that must be there, nothing left behind.
set -e
export TMPDIR=$PWD/temp
mkdir temp
dos simulate -q --hw h100-4x --model 7b --policy dos --trace trace.json >/dev/null
dos validate --set published --rows 'h100-7b*' --format json >validation.json

render() { # KIND TEXT ARGUMENT..: both formats, sizes and the text
	local kind=$1 text=$2
	shift 2
	for suffix in svg png; do
		dos plot "$kind" "$@" -o "$kind.$suffix" 2>&1
		[ "$(stat -c %s "$kind.$suffix")" -gt 8000 ] || echo "$kind.$suffix is too small"
	done
	[ "$(grep -c '<text' "$kind.svg")" -ge 12 ] || echo "$kind.svg has hardly any text"
	grep -q "<text>$text" "$kind.svg" || echo "$kind.svg does not say: $text"
	grep -q "dos plot $kind" "$kind.svg" || echo "$kind.svg does not say how it was made"
	[ "$(head -c 4 "$kind.png" | tail -c 3)" = PNG ] || echo "$kind.png is no PNG"
	echo "$kind"
}
trial=(--hw h100-4x --model 7b)
render capacity 'memory of one GPU (GiB)' "${trial[@]}"
render fraction 'dram: host memory' "${trial[@]}"
render gantt 'update, enlarged' --run trace.json
render heatmap 'link, one way, pinned (GB/s)' "${trial[@]}"
render memory 'GPU memory (GiB), peak' "${trial[@]}" --policy hybrid
render pareto 'host memory in use (GiB)' "${trial[@]}" --mbs 1
render phases 'zero3-offload flush=blocking' --hw h100-4x --model 7b,20b
render stride 'closed form, no contention' "${trial[@]}"
render validation 'sum of phases' --run validation.json
render whatif 'factor of the resource' "${trial[@]}"
render calibration 'all: [0-9]*, [0-9]* % in 90 %' --set h200 --uncertainty 20
dos plot phases "${trial[@]}" -o plain.svg
dos plot phases "${trial[@]}" --uncertainty 20 -o bars.svg
[ "$(grep -c '<path' bars.svg)" -gt "$(grep -c '<path' plain.svg)" ] && grep -o '90 % intervals' bars.svg
dos plot memory --run trace.json -o other.svg
dos plot gantt "${trial[@]}" -o other.svg
dos plot validation --set published -o other.svg
dos plot stride "${trial[@]}" -o stride.pdf
[ "$(head -c 4 stride.pdf)" = %PDF ] && echo pdf
# names with underscores stand as they are; what the shell or gnuplot might interpret is text
sed 's/"name": "tiny"/"name": "my_machine `id` it'\''s"/' "$DOS_SRC/tests/data/tiny.json" >m_1.json
dos plot stride --hw ./m_1.json --model gpt-1.3b-untied -o "it's_one.svg" --keep
grep -o 'my_machine `id` it.*s, dos' "it's_one.svg" | sed 's/&#39;/'\''/'
# the kept script draws the same again
mv "it's_one.svg" first.svg
LC_ALL=C.UTF-8 gnuplot -d "it's_one.gp"
cmp first.svg "it's_one.svg"
ls temp "it's_one"*
ls | grep -c tmp || true
