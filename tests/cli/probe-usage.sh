# SPDX-License-Identifier: GPL-3.0-or-later
# Misuse is exit 2, with what would be accepted.
try() {
	"$@"
	echo "exit $?"
}
try dos-probe
try dos-probe updat
try dos-probe run -t cpu_adm
try dos-probe run extra
try dos-probe run --quik
try dos-probe update
try dos-probe update --policy zero3-offload
try dos-probe update --policy dos
try dos-probe update --policy dos:stride=2,buffers=3
try dos-probe update --policy dos:stride=2,chain=duplx
try dos-probe update --policy hybrid:fraction=2
try dos-probe update --policy hybrid:mask=0120
try dos-probe update --policy dos:stride=2 --repeats 0
try dos-probe update --points missing
printf 'dos:stride=2 100M\nhybrid\n' >points
try dos-probe update --points points
try dos-probe merge
try dos-probe merge missing.csv -o out.csv
# Before anything is measured.
try dos-probe run -t cpu_copy -o missing/profile.json
try dos-probe update --policy dos:stride=2 -o missing/runs.csv
dos-probe --version | sed 's/[0-9.]*$/VERSION/'
