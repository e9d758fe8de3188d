#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Includes follow the layers: each folder names the headers it may include; all else of ours is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

model='model/[a-z0-9_]+\.h|model/base/[a-z0-9_]+\.h'
sim='sim/[a-z0-9_]+\.h'
study='sim/study/[a-z0-9_]+\.h'
traces='traces/[a-z0-9_]+\.h'
generated='config\.h|policy_list\.inc|(report|completion)_(css|js|sh|bash|zsh|fish)\.h'
failed=0

layer() { # FOLDER REGEX [REFUSED-REGEX]: FOLDER's own files (no folders below it) include only REGEX
	local folder=$1 accepted=$2 refused=${3:-^$} line
	while IFS= read -r line; do
		[ -n "$line" ] || continue
		local header=${line#*\"}
		header=${header%%\"*}
		if ! [[ $header =~ ^($accepted)$ ]] || [[ $header =~ ^($refused)$ ]]; then
			echo "${line%%:*}: \"$header\" is above its layer (or not named from the root); accepted: $accepted" >&2
			failed=1
		fi
	done < <(grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$folder"/*.[ch] "$folder"/*.cu 2>/dev/null || true)
}

layer model/base 'model/base/[a-z0-9_]+\.h'
layer model "$model"
layer sim "$sim|$model|$generated"
layer sim/policy "sim/policy\.h|sim/schedule\.h|sim/steps\.h|$model"
layer traces "$traces|$sim|$model"
layer sim/study "$study|$traces|$sim|$model|$generated"
layer sim/cli "sim/cli/[a-z0-9_]+\.h|$study|$traces|$sim|$model|$generated"
for folder in $(find probe -type d 2>/dev/null | sort); do
	layer "$folder" 'probe/[a-z0-9_/]+\.(h|inc)|model/base/[a-z0-9_]+\.h|config\.h|[a-z_]+\.inc' 'model/base/json\.h'
done
exit $failed
