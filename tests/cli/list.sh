# SPDX-License-Identifier: GPL-3.0-or-later
set -e
dos list policies
dos list policies --format csv | cut -d, -f1-2
dos list policies --format json | grep -c '"name"'
dos list models --format csv | cut -d, -f1-8 | head -n 10
dos list sets | sed -E 's/ +/ /g' | cut -d' ' -f1
dos list profiles --format csv | head -n 1
for hw in h100-4x a100-4x h200-vm; do dos list profiles --format csv | grep -c "^$hw,"; done
# $DOS_DATA adds profiles
mkdir -p data/hwprofiles
cp "$DOS_SRC/tests/data/tiny.json" data/hwprofiles/my_machine.json
DOS_DATA=$PWD/data dos list profiles --format csv | grep '^my'
DOS_DATA=$PWD/data dos profile check my-machine
