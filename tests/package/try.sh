#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# try.sh DEB [ROOT]: installs the package in a clean Debian 12 root (made with debootstrap when ROOT is not there), uses it, removes it.
# Needs root, debootstrap and a mirror; a few minutes. Nothing of the machine itself is changed.
set -euo pipefail
deb=$(realpath "$1")
if [ $# -gt 1 ]; then
	root=$2
else
	root=$(mktemp -d)
	trap 'rm -rf "$root"' EXIT
fi
[ -d "$root/usr" ] || debootstrap --variant=minbase bookworm "$root" >"$root.log" || { tail "$root.log" >&2; exit 4; }
cp "$deb" "$root/tmp/dos.deb"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive bash -euo pipefail <<'END'
cd "$(mktemp -d)"
{ apt-get update -qq && apt-get install -y --reinstall /tmp/dos.deb </dev/null; } >log 2>&1 || { tail log; exit 1; }
dos --version
dos simulate -q --hw h100-4x --model 20b --policy zero3-offload,dos
dos sweep -q --hw h100-4x --model 7b --policy zero3-offload,dos,hybrid --stride 1..4 --fraction 0..1:0.25 --db runs.db
dos report -q --db runs.db -o report.html && grep -c '<svg' report.html
dos validate --set published --format json | grep -c n_rows
dos-probe list | tail -n 1
dpkg -V dos && echo 'as packed'
apt-get purge -y dos >log 2>&1
find / -xdev \( -name dos -o -name 'dos.1*' -o -name 'dos-probe*' -o -name _dos \) -not -path '/proc/*' | sed 's/^/left: /'
END
