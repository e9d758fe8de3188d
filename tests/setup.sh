#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks for what the build and the tests need; installs what is missing where that is possible without questions.
set -euo pipefail

missing=()
need() { # PACKAGE COMMAND..: the package when the command fails
	local package=$1
	shift
	"$@" >/dev/null 2>&1 || missing+=("$package")
}
need gcc command -v gcc
need libc6-dev test -e /usr/include/stdio.h
need make command -v make
need gnuplot-nox command -v gnuplot
need pkg-config command -v pkg-config
# One question when all is there, one a package only when something is missing.
if ! pkg-config --exists gsl libcjson sqlite3 zlib check 2>/dev/null; then
	need libgsl-dev pkg-config --exists gsl
	need libcjson-dev pkg-config --exists libcjson
	need libsqlite3-dev pkg-config --exists sqlite3
	need zlib1g-dev pkg-config --exists zlib
	need check pkg-config --exists check
fi
[ ${#missing[@]} -eq 0 ] && exit 0

install="apt-get install -y --no-install-recommends ${missing[*]}"
if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
	sudo=
elif command -v apt-get >/dev/null && sudo -n true 2>/dev/null; then
	sudo='sudo -n'
else
	printf 'missing: %s\ninstall them with: sudo %s\n' "${missing[*]}" "$install" >&2
	exit 4
fi
echo "installing: ${missing[*]}" >&2
{
	$sudo apt-get update -qq
	$sudo env DEBIAN_FRONTEND=noninteractive $install
} </dev/null >&2 || { echo "could not install; try: apt-get update && $install" >&2; exit 4; }
