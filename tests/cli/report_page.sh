# SPDX-License-Identifier: GPL-3.0-or-later
# Reports of a sweep and of a plan in a browser: sorting, filtering, width, contrast, ids, no foreign markup, no network. The names are
# hostile.
set -e
command -v gnuplot >/dev/null || { echo 'no gnuplot' >&2; exit 77; }
command -v node >/dev/null || { echo 'no node to drive a browser with (apt-get install nodejs)' >&2; exit 77; }
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
	{ echo 'no browser (apt-get install chromium)' >&2; exit 77; }
export HOME=$PWD
name='</td><script>document.title=1</script><img src=x onerror=alert(1)>\\" onclick=\\"alert(1)'
sed "s|\"name\": \"tiny\"|\"name\": \"$name\"|" "$DOS_SRC/tests/data/tiny.json" >evil.json
grep -q script evil.json
dos sweep -q --hw h100-4x,./evil.json --model 7b --policy zero3-offload,twinflow,dos,hybrid,gpu-only --ratio 0.2..0.8:0.2 \
	--stride 0..6 --fraction 0..1:0.125 --mbs 1,2 --db runs.db >/dev/null
dos report -q --db runs.db --title 'A <b>title</b> & "more"' -o report.html
node "$DOS_SRC/tests/page/report.mjs" "$browser" report.html $REPORT_SHOTS 2>/dev/null
dos plan -q --hw ./evil.json --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --seq 1024 --gpu-mem 1500MiB \
	--policy 'dos,hybrid:fraction=0.5..1:0.5' --report plan.html >/dev/null
node "$DOS_SRC/tests/page/report.mjs" "$browser" plan.html ${REPORT_SHOTS:+"$REPORT_SHOTS/plan"} 2>/dev/null
