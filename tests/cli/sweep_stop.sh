# SPDX-License-Identifier: GPL-3.0-or-later
# SIGINT and SIGTERM keep what is done and print the command that goes on; then exit 130.
stop() { # SIGNAL DB: sends it as soon as the database has rows
	local i
	dos sweep --hw h100-4x --model 7b --policy 'dos:stride=2;3' --mbs 1..1000000 --db "$2" -j 2 >"$2.out" 2>"$2.err" &
	for ((i = 0; i < 600; i++)); do
		dos db query "$2" --limit 1 >/dev/null 2>&1 && break
		sleep 0.05
	done
	kill -"$1" $!
	wait $!
	echo "exit $?"
	sed 's/interrupted: [1-9][0-9]* of/interrupted: N of/' "$2.err"
	cat "$2.out"
	dos db query "$2" --columns 'count(*) > 0 AS rows' --format csv
}
stop INT int.db
stop TERM 'te rm.db'
command=$(sed -n 's/^dos: to go on: //p' 'te rm.db.err')
eval "$command --limit 10 --format csv" | cut -d, -f 1-3
