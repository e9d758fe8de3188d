# SPDX-License-Identifier: GPL-3.0-or-later
# Files that are missing or wrong: file, place in it and what would be accepted, exit 3.
data=tiny.json
cp "$DOS_SRC/tests/data/tiny.json" .
try() { echo "\$ $*" >&2; "$@"; echo "exit $?" >&2; }
with() { echo "\$ with $1" >&2; sed "$1" "$data" >bad.json; dos profile check bad.json; echo "exit $?" >&2; }
run() { try dos simulate --hw "$1" --model 7b --policy dos:stride=2 -q; }
run ./missing.json
run nonsense.json
mkdir folder.json
run ./folder.json
: >empty.json
run empty.json
head -c 700 "$data" >truncated.json
run truncated.json
printf '\0\1\2\3binary' >binary.json
run binary.json
cat "$data" "$data" >twice.json
run twice.json
with 's/"dram_Bps"/"dram_Bsp"/'
with 's/"gpus": 2/"gpus": "two"/'
with 's/"gpus": 2/"gpus": -2/'
with 's/"gpus": 2/"gpus": 2.5/'
with 's/"smt_gain": {"value": 1.25/"smt_gain": {"value": 1e9/'
with 's/"push_pageable_params_per_s": 2e9/"push_pageable_params_per_s": null/'
with 's/"schema": "dos-hwprofile.1"/"schema": "dos-hwprofile\/9"/'
with '/"hbm_Bps"/d'
with 's/"points": .*25e9., /"points": [/;s/\[1e8, 50e9\]\]},$/[1e8, 50e9], [1e6, 1e9]]},/'
try dos profile check "$data" ./missing.json
try dos simulate --hw "$data" --model no-such-model --policy dos 2>&1 | sed 's/shipped: .*/shipped: .../' >&2
try dos simulate --hw "$data" --model ./config.json --policy dos
echo '{"model_type": "mixtral", "hidden_size": 64}' >moe.json
try dos simulate --hw "$data" --model moe.json --policy dos
try dos validate --set ./missing.csv
echo '$ dos profile check - <&-' >&2
dos profile check - <&-
echo "exit $?" >&2
