# SPDX-License-Identifier: GPL-3.0-or-later
# The same rows at any number of threads, in shards put together, and when run again.
sweep() {
	dos sweep --hw h100-4x,a100-4x --model 7b --policy zero3-offload,dos,hybrid,twinflow:ratio=0.5 --stride 2..4 --buffers 1,2 \
		--fraction 0.25,0.5 --gpus 2,4,8 --scale dram=1,1.5 "$@" -q
}
rows() { dos db query "$1" --order key --format csv; }
sweep --db one.db -j 1
sweep --db two.db -j 2
sweep --db four.db -j 4
rows one.db >one.csv
rows two.db | cmp - one.csv
rows four.db | cmp - one.csv
for shard in 1 2 3; do sweep --db part$shard.db --shard $shard/3 >/dev/null; done
dos db merge -o all.db part1.db part2.db part3.db
rows all.db | cmp - one.csv
dos db merge -o all.db part1.db part2.db part3.db
rows all.db | cmp - one.csv
sweep --db all.db
sweep --db both.db -j 1 --shard 1/2 >/dev/null &
sweep --db both.db -j 1 --shard 2/2 >/dev/null
wait $!
rows both.db | cmp - one.csv
sweep --db closed.db -j 2 --closed-form
dos db query closed.db --columns 'DISTINCT contention, feasible IS NULL, iteration_s IS NULL' --where 'reason IS NULL' --format csv
ls
