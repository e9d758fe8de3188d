# SPDX-License-Identifier: GPL-3.0-or-later
# -o writes the whole file or nothing; an output that cannot be written is exit 4.
hw=$DOS_SRC/tests/data/tiny.json
run() { dos simulate --hw "$hw" --n-subgroups 4 --subgroup 1M --policy gpu-only -q --format csv "$@"; echo "exit $?"; }
run -o rows.csv
cut -d, -f1-3 rows.csv
cp rows.csv before.csv
dos simulate --hw "$hw" --model 7b --policy dos:stride=2 --gpus 9 -q -o rows.csv
echo "exit $?"
cmp rows.csv before.csv && ls
run -o nowhere/rows.csv
run -o .
run --trace nowhere/t.json | tail -n 1
run -o /dev/full
dos simulate --hw "$hw" --n-subgroups 4 --subgroup 1M --policy gpu-only -q >/dev/full
echo "exit $?"
run -o /dev/stdout | head -n 1 | cut -d, -f1-3
run -o - | head -n 1 | cut -d, -f1-3
# A link stays a link, also one to a file that is not there yet.
mkdir real
ln -s real/rows.csv link.csv
ln -s "$PWD/link.csv" real/second.csv
for out in link.csv real/second.csv link.csv; do run -o $out; done
find . -type l -printf '%f\n' | sort
cut -d, -f1-3 real/rows.csv
ln -s loop.csv loop.csv
run -o loop.csv
# A timeline that nothing opens is not begun.
dos simulate --hw "$hw" --contention none --layers 4 --hidden 1024 --heads 16 --ffn 4096 --vocab 32000 --subgroup 10M --policy gpu-only --grad-accum 12000 \
	-q --trace large.json
echo "exit $?"
[ ! -e large.json ] && echo 'no file'
