#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# deb.sh VERSION FOLDER MAKE: FOLDER/dos_VERSION_ARCH.deb of what make install installs. The same sources, compiler and SOURCE_DATE_EPOCH
# (default: the last commit's) give the same bytes.
set -euo pipefail
version=$1 folder=$2 make=$3
command -v dpkg-deb >/dev/null || { echo 'make deb needs dpkg-deb (apt-get install dpkg)' >&2; exit 4; }
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
arch=$(dpkg --print-architecture)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/root
umask 022
"$make" --no-print-directory install DESTDIR="$root" PREFIX=/usr ZSH_FUNCTIONS=share/zsh/vendor-completions
strip --strip-unneeded "$root"/usr/bin/*
gzip -9n "$root"/usr/share/man/man1/*.1

# Licence where Debian looks for it
rm "$root/usr/share/doc/dos/LICENSE"
cat >"$root/usr/share/doc/dos/copyright" <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dos

Files: *
Copyright: the authors of dos
License: GPL-3.0-or-later
 On Debian systems the full text of the GNU General Public License version 3 is in /usr/share/common-licenses/GPL-3.
END

# What the programs are linked with; without dpkg-dev, the packages of Debian 12.
depends='libc6 (>= 2.34), libcjson1, libgsl27, libsqlite3-0, zlib1g'
if command -v dpkg-shlibdeps >/dev/null; then
	mkdir -p "$stage/debian"
	printf 'Source: dos\n\nPackage: dos\nArchitecture: any\n' >"$stage/debian/control"
	found=$(cd "$stage" && dpkg-shlibdeps -O --ignore-missing-info "$root"/usr/bin/* 2>/dev/null | sed -n 's/^shlibs:Depends=//p') || found=
	depends=${found:-$depends}
fi

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: dos
Version: $version
Architecture: $arch
Maintainer: the authors of dos <maintainers@example.org>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)
Depends: $depends
Recommends: gnuplot-nox
Section: science
Priority: optional
Description: capacity planner for training with an offloaded optimizer
 Predicts what an iteration of training takes when the model is larger than its GPUs and the optimizer's state lives on the host:
 time of each phase, peak memory, what limits, and which update stride is best. dos-probe measures the machine.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$folder"
dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/dos_${version}_$arch.deb" >/dev/null
echo "$folder/dos_${version}_$arch.deb"
