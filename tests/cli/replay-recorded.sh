# SPDX-License-Identifier: GPL-3.0-or-later
# Real updates on an H200 machine, recorded by dos-probe: what they say of themselves, and the unchanged replay.
cd "$DOS_SRC/traces/recorded" || exit 1
for trace in published hybrid split half; do
	dos replay h200_update_$trace.json 2>&1 | sed -n '2p; /^  update /p; /^  [hd]2[hd] /p; /^unchanged/p; s/ (first at byte.*//; /left out/p'
done
