# SPDX-License-Identifier: GPL-3.0-or-later
# A disk that fills up: a clear message, what was finished is kept, and the sweep goes on when there is room again.
compiler=$(command -v gcc || command -v cc || command -v clang) || { echo "no compiler" >&2; exit 77; }
! grep -qa __asan_init "$(command -v dos)" || { echo "sanitizers and preloads do not mix" >&2; exit 77; }
! grep -qa __tsan_init "$(command -v dos)" || { echo "sanitizers and preloads do not mix" >&2; exit 77; }
cat >full.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/types.h>
#include <unistd.h>
/* The disk has 300 kB. */
static ssize_t written;
static ssize_t guarded(int file, const void *bytes, size_t n, off_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);
	if (!real)
		real = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite64");
	if ((written += (ssize_t)n) > 300000) {
		errno = ENOSPC;
		return -1;
	}
	return real(file, bytes, n, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t n, off64_t at) { return guarded(file, bytes, n, at); }
ssize_t pwrite(int file, const void *bytes, size_t n, off_t at) { return guarded(file, bytes, n, at); }
C
"$compiler" -shared -fPIC -o full.so full.c -ldl || { echo "no shared objects" >&2; exit 77; }
sweep() { dos sweep --hw h100-4x --model 7b --policy dos --stride 2..50 --mbs 1..40 -j 2 "$@"; }
LD_PRELOAD=./full.so sweep --db full.db 2>err
echo "exit $?"
sed 's/^dos: to go on: .*/dos: to go on: COMMAND/' err
n=$(dos db query full.db --columns 'count(*)' --format csv | tail -n 1)
[ "$n" -gt 0 ] && [ "$n" -lt 1960 ] || echo "$n rows"
sweep --db full.db >/dev/null
sweep --db whole.db
dos db query whole.db --order key --format csv >whole.csv
dos db query full.db --order key --format csv | cmp - whole.csv
