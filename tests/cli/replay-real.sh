# SPDX-License-Identifier: GPL-3.0-or-later
# Recorded runs of real machines, which are not in this tree: counts by another method, and the unchanged replay within 5 %.
shared=${REPLAY_SHARED:-$DOS_SRC/../shared}
[ -d "$shared/data/kineto" ] || { echo 'no recorded runs beside the tree (REPLAY_SHARED names another folder)' >&2; exit 77; }
command -v python3 >/dev/null || { echo 'needs python3' >&2; exit 77; }
python3 "$DOS_SRC/tests/replay_independent.py" dos "$shared"/data/kineto/*.gz "$shared"/data/deepspeed/*.log >counts
grep -v '^agrees' counts
sed -n 's/.*unchanged replay \([+-][0-9.]*\) %.*/\1/p' counts | awk '{ n++; if ($1 > 5 || $1 < -5) print "off by", $1, "%" } END { print (n > 8 ? "enough" : "few") " replays" }'
h200=$shared/data/kineto/h200_1.3b_offload_stride
for stride in 0 2; do
	dos replay "$h200$stride"*.gz --format json >run.json
	python3 - "$stride" <<'PYTHON'
import json
import sys
# 1 339 232 256 parameters: 2 bytes each to the host in backward (CPU part), 2 back in the update, 12 each way for the GPU's part
n, stride, run = 1339232256, int(sys.argv[1]), json.load(open("run.json"))
sizes = [65536000] + [50339840] * 24 + [65540096]
streamed = sum(s for i, s in enumerate(sizes) if stride and (i + 1) % stride == 0)
want = {"h2d_bytes": 12 * streamed + 2 * (n - streamed), "d2h_bytes": 12 * streamed + 2 * (n - streamed)}
for key, value in want.items():
    print("stride", stride, key, "within 1 %" if abs(run[key] / value - 1) < 0.01 else (run[key], value))
PYTHON
done
dos replay "${h200}0.json.gz" --policy dos:stride=2,chain=serial,grads=bf16 --format json -q >what_if.json
dos replay "${h200}2_onebuffer.json.gz" --format json >run.json
python3 -c '
import json
predicted = json.load(open("what_if.json"))["what_if"][-1]["update_s"]
recorded = json.load(open("run.json"))["update_s"]
print("stride 2 from stride 0:", "within 10 %" if abs(predicted / recorded - 1) < 0.1 else (predicted, recorded))'
