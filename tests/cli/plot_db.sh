# SPDX-License-Identifier: GPL-3.0-or-later
# Plots of a sweep: what they show, empty and too wide selections.
set -e
dos sweep --help >/dev/null 2>&1 || { echo 'no dos sweep' >&2; exit 77; }
exec 2>&1
dos sweep -q --hw h100-4x,a100-4x --model 7b --policy zero3-offload,dos,hybrid --stride 1..6 --fraction 0,0.5,1 --db runs.db >/dev/null
scales=()
for cpu in 0.5 1 2; do for link in 0.5 1 2; do scales+=(--scale "cpu=$cpu,h2d=$link,d2h=$link"); done; done
dos sweep -q --hw h100-4x --model 7b --policy dos --stride 0..4 "${scales[@]}" --db map.db >/dev/null
# texts of a plot that match; results as they change with the model are N
texts() {
	grep -o '<text>.*</text>' "$1" | sed -E 's/<[^>]*>//g; s/(stride |fraction |: )[0-9.]+( m?s)?/\1N\2/g' | grep -E "$2"
}
dos plot stride --db runs.db -o stride.svg
texts stride.svg 'best stride|closed form|runs.db'
dos plot stride --db runs.db --uncertainty 20 -o bars.svg
texts bars.svg '90 %'
echo "$(($(grep -c '<path' bars.svg) - $(grep -c '<path' stride.svg))) more paths"
dos plot phases --db runs.db -o phases.svg
texts phases.svg '^(7b|zero3|dos|hybrid)|fastest'
dos plot fraction --db runs.db --where "hw = 'h100-4x'" -o fraction.svg
texts fraction.svg '^(cpu|dram):|where hw'
dos plot heatmap --db map.db -o heatmap.svg
texts heatmap.svg '^(link|CPU)'
texts heatmap.svg '^[0-4]$' | wc -l
try() { local status=0; "$@" || status=$?; echo "exit $status"; }
try dos plot stride --db runs.db --where "hw = 'x'" -o a.svg
try dos plot fraction --db runs.db -o a.svg
try dos plot heatmap --db runs.db -o a.svg
try dos plot stride --db runs.db --where 'hw = nope' -o a.svg
try dos plot stride --db runs.db --where 'abs(stride - stride - 9223372036854775807 - 1) > 0' -o a.svg
try dos plot stride --db runs.db --where "length(zeroblob(2000000000)) > 0" -o a.svg
try dos plot stride --db absent.db -o a.svg
# a profile that is no longer the one of the database gives no closed form
mkdir -p data/hwprofiles
sed 's/"name": "tiny"/"name": "changing"/' "$DOS_SRC/tests/data/tiny.json" >data/hwprofiles/changing.json
export DOS_DATA=$PWD/data
dos sweep -q --hw changing --model gpt-1.3b-untied --policy dos --stride 1..3 --db old.db >/dev/null
dos plot stride --db old.db -o old.svg
texts old.svg 'closed form$|no closed'
sed -i 's/"points": \[\[1, 0.5e9\]/"points": [[1, 0.4e9]/; s/\[16, 4e9\]/[16, 3.9e9]/; s/\[8, 3e9\]/[8, 2.9e9]/' data/hwprofiles/changing.json
dos plot stride --db old.db -o old.svg
texts old.svg 'closed form$|no closed'
try dos plot stride --db old.db --where 'stride > 1' --uncertainty 20 -o old.svg
