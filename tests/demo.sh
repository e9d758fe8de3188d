#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh BIN: what dos does, in less than a minute.
set -euo pipefail

bin=$1
[ -x "$bin/dos" ] || { echo "$bin/dos is not built: make all" >&2; exit 4; }
"$bin/dos" list policies
"$bin/dos" list models
"$bin/dos" list profiles
