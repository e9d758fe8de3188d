#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# aarch64.sh BUILD MAKE: cross-compiles dos, dos-probe (without CUDA) and the unit tests for aarch64 and runs unit and command-line tests
# under qemu-user. Compiler, emulator and libraries are Debian packages that are unpacked below BUILD/root: nothing is installed, no
# root is needed, and what is there already is used again. Skipped, with the reason, where they cannot be had.
set -euo pipefail
mkdir -p "$1"
build=$(realpath "$1") make=$2
source=$(realpath "$(dirname "$0")/..")
root=$build/root

skip() { echo "aarch64: skipped, $1"; exit 0; }

fetch() {
	local deb
	for deb in apt-get dpkg-deb; do
		command -v $deb >/dev/null || skip "no $deb: this is not Debian"
	done
	[ "$(dpkg --print-architecture)" = amd64 ] || skip "made for amd64 machines, this is $(dpkg --print-architecture)"
	[ -f /etc/apt/sources.list.d/debian.sources ] || [ -s /etc/apt/sources.list ] || skip 'apt has no sources'
	# An apt of its own: the machine's lists, architectures and packages stay as they are.
	mkdir -p "$root"/apt/{state/lists/partial,cache/archives/partial} "$root/tools" "$root/sysroot"
	: >"$root/apt/status"
	cat >"$root/apt/apt.conf" <<-END
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; "arm64"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "$(id -un)";
		Dir::State "$root/apt/state";
		Dir::State::status "$root/apt/status";
		Dir::Cache "$root/apt/cache";
		Dir::Etc::sourcelist "$([ -f /etc/apt/sources.list.d/debian.sources ] && echo /etc/apt/sources.list.d/debian.sources || echo /etc/apt/sources.list)";
		Dir::Etc::sourceparts "-";
	END
	export APT_CONFIG=$root/apt/apt.conf
	{ apt-get update -q && apt-get install -q -y --download-only qemu-user-static gcc-aarch64-linux-gnu libc6-dev:arm64 libgsl-dev:arm64 \
		libcjson-dev:arm64 libsqlite3-dev:arm64 zlib1g-dev:arm64 check:arm64; } </dev/null >"$root/apt/log" 2>&1 ||
		skip "the packages cannot be had: $(grep -m 1 -E '^[EW]:' "$root/apt/log" || tail -n 1 "$root/apt/log")"
	for deb in "$root"/apt/cache/archives/*.deb; do
		case ${deb##*/} in
		*_arm64.deb) dpkg-deb -x "$deb" "$root/sysroot" ;;
		libc6_*) ;; # tools run with this machine's
		*) dpkg-deb -x "$deb" "$root/tools" ;;
		esac
	done
	# Links that start at the root would lead out of it.
	find "$root/sysroot" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do ln -sfnr "$root/sysroot$target" "$link"; done
	rm -rf "$root/apt/cache" "$root/apt/state"
	touch "$root/complete"
}

# Programs that the tests find in PATH: what runs under the emulator, and a compiler for what they preload.
wrap() {
	mkdir -p "$build/wrapped"
	cat >"$build/wrapped/wrap.c" <<-END
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			char *all[argc + 4];
			all[0] = "qemu-aarch64-static", all[1] = "-L", all[2] = "$root/sysroot", all[3] = PROGRAM;
			for (int i = 1; i <= argc; i++)
				all[i + 3] = argv[i];
			return execv("$qemu", all), 127;
		}
	END
	local program
	for program in dos dos-probe; do # static: what a test preloads is not for it
		gcc -static -DPROGRAM="\"$build/bin/$program\"" -o "$build/wrapped/$program" "$build/wrapped/wrap.c"
	done
	printf '#!/bin/sh\nexec %s "$@"\n' "$cross" >"$build/wrapped/gcc"
	chmod +x "$build/wrapped/gcc"
}

[ -e "$root/complete" ] || fetch
qemu=$root/tools/usr/bin/qemu-aarch64-static
cross="env LD_LIBRARY_PATH=$root/tools/usr/lib/x86_64-linux-gnu $root/tools/usr/bin/aarch64-linux-gnu-gcc --sysroot=$root/sysroot"
cd "$source"
PKG_CONFIG_SYSROOT_DIR=$root/sysroot PKG_CONFIG_LIBDIR=$root/sysroot/usr/lib/aarch64-linux-gnu/pkgconfig:$root/sysroot/usr/share/pkgconfig \
	"$make" --no-print-directory NVCC=none BUILD="$build" CC="$cross" all "$build/check_all"
status=0
CK_TIMEOUT_MULTIPLIER=20 "$qemu" -L "$root/sysroot" "$build/check_all" || status=1
wrap
bash tests/cli/run.sh "$build/wrapped" ${CASES-} || status=1
exit $status
