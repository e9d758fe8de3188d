# SPDX-License-Identifier: GPL-3.0-or-later
# A driver older than the CUDA runtime needs, by a libcuda that only tells its version: exit 4, the driver needed, and the way out.
if dos-probe list 2>&1 >/dev/null | grep -q 'built without'; then
	echo "dos-probe is built without CUDA" >&2
	exit 77
fi
cat >cuda.c <<'C'
int cuInit(unsigned flags) { return (int)flags; }
int cuDriverGetVersion(int *version) { *version = 11000; return 0; }
C
${CC:-cc} -shared -fPIC -o libcuda.so.1 cuda.c || exit 1
export LD_LIBRARY_PATH=$PWD
try() {
	"$@" 2>&1 >/dev/null | sed 's/needs driver [0-9]* or later (CUDA [0-9.]*)/needs driver N or later (CUDA N)/'
	echo "exit ${PIPESTATUS[0]}"
}
try dos-probe run -q -t cpu_copy -o profile.json
try dos-probe update --policy dos:stride=2
try dos-probe list
ls
