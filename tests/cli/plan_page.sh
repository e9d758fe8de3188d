# SPDX-License-Identifier: GPL-3.0-or-later
# A plan as one page: what it says, the same bytes, nothing fits, nothing left behind.
command -v gnuplot >/dev/null || { echo 'no gnuplot' >&2; exit 77; }
export SOURCE_DATE_EPOCH=1700000000
exec 2>&1
small="--hw $DOS_SRC/tests/data/tiny.json --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --seq 1024 --mbs 1 --subgroup 10M"
try() { local status=0; "$@" || status=$?; echo "exit $status"; }
dos plan $small --gpu-mem 1500MiB --policy dos:ratio=1,zero3-offload,gpu-only --report a.html >text
dos plan $small --gpu-mem 1500MiB --policy dos:ratio=1,zero3-offload,gpu-only -j 1 --report a.html.2 >/dev/null
sed 's/ -j 1 --report a\.html\.2/ --report a.html/' a.html.2 | cmp a.html - && echo 'the same bytes'
grep -o '<h2>[^<]*' a.html
grep -oE '<figure' a.html | wc -l
# the command of the text
sed -n 's/^run *//p' text >command
sed -n '/<pre/s/<[^>]*>//gp' a.html | diff command - && echo 'the same command'
sed 's/<[^>]*>/ /g' a.html | grep -oE 'Of [0-9]+ alternatives|The best of the policies in|is better than each single change' | sed 's/[0-9]\+/N/'
sed -n '/id="runs"/,/<\/table>/p' a.html | grep -oE '^<tr[^>]*><td class=t>[^<]*' | sed 's/.*>//'
grep -oE ' (src|href)="[^#"][^"]*"|url\([^)]*\)|@import' a.html
dos plan $small --gpu-mem 1500MiB --policy dos:ratio=1 --uncertainty 0 --report c.html >/dev/null
grep -cE 'is the best<|at least' c.html
try dos plan $small --gpu-mem 300MiB --policy gpu-only,dos:stride=2,ratio=1 --report b.html | tail -n 1
sed 's/<[^>]*>/ /g' b.html | grep -oE 'nothing fits|With the least GPU memory.*' | sed -E 's/[0-9.]+ [GM]iB/N/g'
try dos plan $small -o text --report absent/d.html
PATH=$(dirname "$(command -v dos)") try dos plan $small -o text --report d.html
ls *.html*
