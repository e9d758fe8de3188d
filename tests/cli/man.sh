# SPDX-License-Identifier: GPL-3.0-or-later
# The manual names every command and every option of every --help, and no others.
set -e
manual=$DOS_SRC/sim/cli/dos.1
commands=$(dos --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
{
	dos --help
	for command in $commands; do dos "$command" --help; done
} | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u >helps
sed 's/\\-/-/g' "$manual" | sed -n '/^.SH OPTIONS/,/^.SH EXIT/p' | grep -oE -- '--[a-z-]+' | sort -u >manual
diff helps manual
for command in $commands; do
	grep -q "^\\\\fB$command\\\\fR" "$manual" || echo "$command is not in the manual"
done
