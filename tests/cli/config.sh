# SPDX-License-Identifier: GPL-3.0-or-later
# Where values come from: flag > DOS_* > --config > ./dos.json > personal file > built-in; what is refused; what is left alone.
exec 2>&1
unset DOS_SRC DOS_GOLDEN # the runner's own
try() { local status=0; "$@" || status=$?; echo "exit $status"; }
mbs() { dos simulate -q --hw h100-4x --model 7b --policy dos --format json "$@" | grep -o '"mbs": [0-9]*'; }
mkdir -p home/dos
export XDG_CONFIG_HOME=$PWD/home
mbs
echo '{"mbs": 2, "gpus": 2}' >home/dos/config.json
mbs
echo '{"mbs": 3, "schema": "dos-config/1", "extra": {"anything": 1}}' >dos.json
mbs
echo '{"mbs": "4"}' >given.json
mbs --config given.json
DOS_CONFIG=given.json mbs
DOS_MBS=5 mbs --config given.json
DOS_MBS=5 mbs --config given.json --mbs 6
DOS_MBS= mbs
echo '== all at once'
DOS_SEQ=1024 DOS_NO_COLOR=on DOS_HV=x dos config --show-origin --config given.json | sed "s#$PWD/##" | grep -vE '(built-in|not set)$'
DOS_SEQ=1024 dos config --show-origin --format csv -q | sed "s#$PWD/##" | grep -E '^(seq|mbs|gpus|grad-accum|subgroup|sync),'
dos config --format json -q | sed -n '1,5p'
dos config | grep -E '^(mbs|quiet) '
echo '== values of files'
rm -r dos.json home
unset XDG_CONFIG_HOME
validate() { dos validate --set published --rows 'h100*' --quantity update_s --format csv; }
validate >before.csv
echo '{"hw": "h100-4x", "model": "7b", "policy": ["zero3-offload", "dos:stride=2"], "scale": ["dram=1.5", "cpu=2"], "checkpointing": false,
	"quiet": true, "format": "csv", "max-mape": 0.5}' >dos.json
dos simulate | cut -d , -f 1-4
dos simulate --policy gpu-only --format json | grep -E '"(policy|scale|checkpointing)"'
echo '== what a file does not change'
validate | cmp - before.csv && echo 'validation as before'
dos sweep --db runs.db --policy zero3-offload,dos --stride 1..3 | head -n 1
dos plot stride --db runs.db -o a.svg && echo 'plotted from the database'
dos report --db runs.db --no-plots -o a.html && echo 'reported'
echo '== refused'
echo '{"subgruop": 1}' >dos.json; try dos list sets 2>&1 | sed 's/accepted: .*/accepted: ../'
echo '{"output": "x"}' >dos.json; try dos list sets 2>&1 | sed 's/accepted: .*/accepted: ../'
echo '{"mbs": 0}' >dos.json; try dos simulate --hw h100-4x --model 7b --policy dos
try dos list plots -q --format csv >/dev/null && echo 'others work'
echo '{"mbs": {"a": 1}}' >dos.json; try dos list sets
echo '{"mbs": null}' >dos.json; try dos list sets
echo '{"mbs": 1, "mbs": 2}' >dos.json; try dos list sets
echo '{"sync": "phases"}' >dos.json; try dos simulate --hw h100-4x --model 7b --policy dos
echo '{"schema": "dos-simulate/1"}' >dos.json; try dos list sets
echo '[1]' >dos.json; try dos list sets
echo '{' >dos.json; try dos list sets
rm dos.json
DOS_MBS=none try dos simulate --hw h100-4x --model 7b --policy dos
try dos list sets --config absent.json
try dos config extra
mkdir dos.json
try dos list sets
