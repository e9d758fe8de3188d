#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# memcheck.sh BIN [CASE..]: the command-line tests with every `dos` of theirs under valgrind; fails when one of its runs has an error or
# a definite leak. What a case itself says is printed, but judged by `make cli`: valgrind needs a TMPDIR, opens input that a case closed, and
# is no copy that a case installs. A run of more than MEMCHECK_SECONDS (1800) of processor time is ended, named, and an error. dos fit is
# what takes long: some thirty times its time without valgrind, a quarter of an hour on a quiet machine.
set -euo pipefail
seconds=${MEMCHECK_SECONDS:-1800}
command -v valgrind >/dev/null || { echo 'memcheck: skipped, not installed (apt-get install valgrind)'; exit; }
bin=$(realpath "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/logs"
# A process number alone may come again during the tests; exec, for the signals that a case sends are for dos; a case may set PATH.
cat >"$folder/bin/dos" <<EOF
#!/bin/sh
log=\$($(command -v mktemp) "$folder/logs/XXXXXXXX")
echo "dos \$*" >\$log
ulimit -S -t $seconds
exec $(command -v valgrind) -q --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite --log-file="\$log.%p.log" \\
	"$bin/dos" "\$@"
EOF
chmod +x "$folder/bin/dos"
[ ! -x "$bin/dos-probe" ] || ln -s "$bin/dos-probe" "$folder/bin/dos-probe"
bash "$(dirname "$0")/cli/run.sh" "$folder/bin" "$@" | grep -E '^(FAILED|skipped|cli:)' || true
runs=$(find "$folder/logs" -name '*.log' | wc -l)
bad=$(find "$folder/logs" -name '*.log' -size +0 | wc -l)
find "$folder/logs" -name '*.log' -size +0 | head -n 5 | while read -r log; do
	cat "${log%.*.log}" "$log"
done
echo "memcheck: $runs runs, $bad with an error or more than $seconds s"
[ "$bad" -eq 0 ] && [ "$runs" -gt 0 ]
