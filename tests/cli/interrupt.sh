# SPDX-License-Identifier: GPL-3.0-or-later
# SIGINT, SIGTERM and SIGHUP end every command with 130; no temporary file or folder is left, an older output stays.
set -m # jobs in the background do not ignore SIGINT
export TMPDIR=$PWD/temp
mkdir temp fake
until_there() { # PATTERN: waits for a file of that name
	local i
	for ((i = 0; i < 600; i++)); do
		compgen -G "$1" >/dev/null && return
		sleep 0.05
	done
	echo "$1: never came"
}
stop() { # SIGNAL PATTERN
	until_there "$2"
	kill -"$1" $!
	wait $! 2>/dev/null
	echo "exit $?"
	cat out.csv a.svg err
	find . -type f -name '*.tmp' -o -path './temp/*' | sort
}
echo 'older' >out.csv
echo 'older figure' >a.svg

# The trace waits for a reader, so its temporary file stays until the signal comes.
mkfifo trace
for signal in INT TERM HUP; do
	echo "simulate $signal"
	dos simulate --hw "$DOS_SRC/tests/data/tiny.json" --n-subgroups 4 --subgroup 1M --policy gpu-only -q --format csv -o out.csv --trace trace 2>err &
	stop $signal 'out.csv.*.tmp'
done

# A gnuplot that never ends.
cat >fake/gnuplot <<'END'
#!/bin/sh
echo $$ >temp/pid && mv temp/pid temp/pid.tmp
exec sleep 600
END
chmod +x fake/gnuplot
export PATH=$PWD/fake:$PATH
for signal in INT TERM HUP; do
	echo "plot $signal"
	dos plot stride --hw h100-4x --model 7b -o a.svg 2>err &
	until_there temp/pid.tmp
	until_there 'temp/dos-plot-*/plot.gp'
	child=$(cat temp/pid.tmp)
	rm temp/pid.tmp
	stop $signal 'a.svg.*.tmp'
	! kill -0 "$child" 2>/dev/null || echo "gnuplot goes on"
done

# What ignores a hang-up goes on ignoring it.
echo nohup
rm -f trace out.csv
mkfifo trace
(trap '' HUP; exec dos simulate --hw "$DOS_SRC/tests/data/tiny.json" --n-subgroups 4 --subgroup 1M --policy gpu-only -q --format csv -o out.csv --trace trace) &
until_there 'out.csv.*.tmp'
kill -HUP $!
cat trace >/dev/null
wait $!
echo "exit $?"
cut -d , -f 1-3 out.csv
