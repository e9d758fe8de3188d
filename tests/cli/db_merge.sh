# SPDX-License-Identifier: GPL-3.0-or-later
# Databases are merged; again changes nothing; the same trial with other results is a conflict; a bad file merges nothing.
sweep() { dos sweep --hw h100-4x --model 7b --policy dos --gpus 4 "$@" -q >/dev/null; }
merge() { dos db merge "$@"; echo "exit $?" >&2; }
rows() { dos db query "$1" --columns 'count(*)' --format csv | tail -n 1; }
sweep --stride 2..5 --db a.db
sweep --stride 4..8 --db b.db
merge -o all.db a.db b.db
rows all.db
merge -o all.db a.db b.db
rows all.db
merge -o a.db b.db
rows a.db
merge -o all.db a.db missing.db
merge a.db b.db
merge -o all.db
merge -o all.db a.db --limit 3
if command -v sqlite3 >/dev/null; then
	sqlite3 b.db 'UPDATE trials SET update_s = 2 * update_s WHERE stride = 7'
	merge -o all.db b.db 2>&1 | sed 's/key [0-9a-f]*/key K/'
	rows all.db
else
	printf '%s\n' 'dos: all.db: 1 conflicts: key K of b.db differs in update_s; the results that came first are kept' 'exit 1' 7
fi
