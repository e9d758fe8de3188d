# SPDX-License-Identifier: GPL-3.0-or-later
# The manuals name every command and every option of every --help, and no others.
set -e
options() { grep -oE -- '--[a-z0-9-]+' | sort -u; }
compare() { # PROGRAM MANUAL
	local program=$1 manual=$2 commands command
	commands=$($program --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
	{
		$program --help
		for command in $commands; do $program "$command" --help; done
	} | grep -oE '^ +(-[a-z], )?--[a-z0-9-]+' | options >helps
	sed 's/\\-/-/g' "$manual" | sed -n '/^.SH OPTIONS/,/^.SH EXIT/p' | options >manual
	diff helps manual
	sed -n '/^.SH COMMANDS/,/^.SH OPTIONS/s/^\\fB\([a-z-]*\)\\fR.*/\1/p' "$manual" | sort >manual
	tr ' ' '\n' <<<"$commands" | sort | diff - manual
	! command -v mandoc >/dev/null || mandoc -T lint -W error "$manual"
}
compare dos "$DOS_SRC/sim/cli/dos.1"
compare dos-probe "$DOS_SRC/probe/dos-probe.1"
