# SPDX-License-Identifier: GPL-3.0-or-later
# Misuse goes to standard error with the nearest accepted word, exit 2; nothing on standard output.
try() { echo "\$ dos $*" >&2; dos "$@"; echo "exit $?" >&2; }
cd "$DOS_SRC/tests/data" || exit 1
hw=./tiny.json
try
try simulat
try nonsense-command
try --nonsense
try simulate
try simulate --hw $hw --policy dos
try simulate --model 7b --policy dos
try simulate --hw $hw --model 7b
try simulate --hw $hw --model 7b --policy dos extra
try simulate --hw $hw --model 7b --policy dos --polcy dos
try simulate --hw $hw --model 7b --policy dos --stride 4
try simulate --hw $hw --model 7b --policy dos --hw $hw
try simulate --hw $hw --model 7b --policy dos --format nonsense
try simulate --hw $hw --model 7b --policy dos --contention fluit
try simulate --hw $hw --model 7b --policy dos --sync al
try simulate --hw $hw --model 7b --policy dos --checkpointing yes
try simulate --hw $hw --model 7b --policy dos --precision fp32
try simulate --hw $hw --model 7b --policy dos --trace
try simulate --hw $hw --model 7b --policy dos,zero3-offload --trace t.json
try simulate --hw $hw --model 7b --policy dos --trace t.json -o t.json
try simulate --hw $hw --model 7b --policy dos --trace -
try replay traces/simulated.json --trace -
try plan --hw $hw --model 7b --report p.html -o p.html
try plan --hw $hw --model 7b --report -
try plan --hw $hw --model 7b --ds-config ds.json -o new.json --report -
# Known before minutes of work, so none of these reads a set or the profile of another machine, or leaves a database.
try plan --hw absent --model 7b -o absent/p.txt
try plan --hw absent --model 7b --report absent/p.html
try validate --set absent -o absent/v.txt
try sweep --hw $hw --model 7b --policy dos --db absent.db -o absent/s.txt
try model --hw $hw --model 7b --policy zero3-offload
try model --hw $hw --model 7b --policy dos,hybrid
try validate published
try validate --quantity update
try validate --max-mape x
try list
try list policy
try list models plots
try profile
try profile shw $hw
try profile show
try profile diff $hw
