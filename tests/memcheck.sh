#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# memcheck.sh BIN [CASE..]: the command-line tests with every `dos` of theirs under valgrind; fails when one of its runs has an error or
# a definite leak. What a case itself says is printed, but judged by `make cli`: under valgrind time limits may not hold. A run longer than
# MEMCHECK_SECONDS (1800) is ended and named: up to there it had no error, what it leaks is not known, nor what its case would have run
# after it. dos fit is what takes long: some thirty times its time without valgrind.
set -euo pipefail
seconds=${MEMCHECK_SECONDS:-1800}
command -v valgrind >/dev/null || { echo 'memcheck: skipped, not installed (apt-get install valgrind)'; exit; }
bin=$(realpath "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/logs"
cat >"$folder/bin/dos" <<EOF
#!/bin/sh
log=\$(mktemp -u "$folder/logs/XXXXXXXX") # a process number alone may come again
timeout --foreground -s KILL $seconds valgrind -q --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \\
	--log-file="\$log.%p" "$bin/dos" "\$@"
status=\$?
[ \$status -ne 137 ] || echo "\$*" >>"$folder/ended"
exit \$status
EOF
chmod +x "$folder/bin/dos"
[ ! -x "$bin/dos-probe" ] || ln -s "$bin/dos-probe" "$folder/bin/dos-probe"
bash "$(dirname "$0")/cli/run.sh" "$folder/bin" "$@" | grep -E '^(FAILED|skipped|cli:)' || true
runs=$(find "$folder/logs" -type f | wc -l)
bad=$(find "$folder/logs" -type f -size +0 | wc -l)
find "$folder/logs" -type f -size +0 | head -n 5 | xargs -r cat
touch "$folder/ended"
sed "s/^/ended after $seconds s: dos /" "$folder/ended"
echo "memcheck: $runs runs, $bad with an error, $(wc -l <"$folder/ended") ended after $seconds s"
[ "$bad" -eq 0 ] && [ "$runs" -gt 0 ]
