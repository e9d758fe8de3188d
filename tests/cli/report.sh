# SPDX-License-Identifier: GPL-3.0-or-later
# dos report: recommendation, reproducible bytes, nothing from outside, misuse, databases that are none.
export SOURCE_DATE_EPOCH=1700000000
exec 2>&1
try() { local status=0; "$@" || status=$?; echo "exit $status"; }
dos sweep -q --hw h100-4x --model 7b,30b --policy zero3-offload,dos --policy twinflow:ratio=0.5 --stride 1..6 --db runs.db >/dev/null
dos report --db runs.db --no-plots -o a.html
dos report --db runs.db --no-plots -o a.html.2 && sed 's/a\.html\.2/a.html/' a.html.2 | cmp a.html - && echo 'the same bytes'
# what it says, without the times
sed -n '/<main>/,/id="policies"/p' a.html | sed -E 's/<[^>]*>/ /g; s/[0-9.]+ to [0-9]/N to N/g; s/(under|over)? ?[0-9]+ % of 100/N % of 100/; s/([0-9.]+|N[0-9.]*) (times|tokens\/s|m?s|GiB)/N \2/g; s/;[0-9.]+ %/;N %/g; s/  +/ /g' | grep -vE '^ ?$'
grep -o '<td[^>]*>[0-9]* to [0-9]*<td[^<]*' a.html | sed -E 's/[0-9]+/N/g; s/(under|over) N/N/' | sort -u
dos report --db runs.db --no-plots --uncertainty 0 -o - | grep -c 'is the best\|draws\.</p>'
grep -c '<td class=t>\(7b\|30b\)' a.html
grep -oE ' (src|href)="[^#"][^"]*"|url\([^)]*\)|@import' a.html
grep -o '<meta http-equiv[^>]*' a.html | sed -E 's/sha256-[A-Za-z0-9+\/=]+/HASH/g'
for part in 'script' 'style'; do # the hashes are those of what the page holds
	hash=$(sed -n "/<$part>/,/<\/$part>/p" a.html | sed "s/.*<$part>//; s/<\/$part>.*//" | head -c -1 | sha256sum | cut -d ' ' -f 1 | tr a-f A-F | basenc --base16 -d | base64)
	grep -c "$part-src 'sha256-$hash'" a.html
done
# a name that would be markup
sed 's|"summary": "|&<script>alert(1)</script> |' "$DOS_SRC/tests/data/tiny.json" >evil.json
dos sweep -q --hw ./evil.json --model 7b --policy zero3-offload --db evil.db >/dev/null
dos report --db evil.db --no-plots --title '</title><b>' -o evil.html
grep -oE '.{4}script.{1,4}alert' evil.html
grep -oE '<title>.*</title>' evil.html
grep -c '<script' evil.html
# a machine and a model of one's own
cat >config.json <<'END'
{"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 32000,
 "torch_dtype": "bfloat16"}
END
dos sweep -q --hw ./evil.json --model ./config.json --policy zero3-offload,dos --db own.db >/dev/null
dos report -q --db own.db --no-plots -o - | grep -cE 'draws\.</p>|<th scope="row">measured'
dos report -q --db own.db --no-plots --hw ./evil.json --model ./config.json -o - | grep -cE 'draws\.</p>|<th scope="row">measured'
try dos report --db own.db --no-plots --hw absent.json -o b.html
# one run of an update alone
dos sweep -q --hw h100-4x --policy dos:stride=2 --n-subgroups 20 --db update.db >/dev/null
dos report --db update.db --no-plots -o - | grep -oE 'an update|dos simulate.*' | sed 's/<[^>]*>//g' | head -n 2
try dos report --db runs.db --where 'mbs = 7' -o b.html
try dos report --db runs.db --where 'nope = 7' -o b.html
try dos report --db runs.db --where 'abs(mbs - mbs - 9223372036854775807 - 1) > 0' -o b.html
try dos report --db absent.db -o b.html
echo 'no database' >text.db
try dos report --db text.db -o b.html
try dos report -o b.html
try dos report --db runs.db
try dos report --db runs.db --format json -o b.html
try dos report --db runs.db extra -o b.html
try dos report --db runs.db --no-plots -o /dev/full
SOURCE_DATE_EPOCH=soon try dos report --db runs.db -o b.html
PATH=$(dirname "$(command -v dos)") try dos report --db runs.db -o b.html
[ -z "$(ls b.html* 2>/dev/null)" ] && echo "nothing is left behind"
