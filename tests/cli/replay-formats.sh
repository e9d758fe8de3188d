# SPDX-License-Identifier: GPL-3.0-or-later
# Every format by its content, whatever it is called and packed or not; what is no timeline says why.
traces=$DOS_SRC/tests/data/traces
for file in kineto_relative.json kineto_bare_array.json kineto_truncated.json kineto_rocm.json kineto_offload.json \
	deepspeed_megatron.log deepspeed_old_names.log simulated.json simulated.csv probe_update.json; do
	gzip -c "$traces/$file" >any
	echo "$file: $(dos replay any --format csv | sed 1d | cut -d, -f 1-6 | sort -u | tail -n 1)"
done
dos replay - --format csv <"$traces/kineto_relative.json" | head -n 1
for file in kineto_cpu_only.json kineto_no_steps.json deepspeed_no_breakdown.log; do
	cp "$traces/$file" .
	dos replay "$file"
	echo "exit $?"
done
echo hello >text
dos replay text
dos replay none
dos replay
dos replay a b
