# SPDX-License-Identifier: GPL-3.0-or-later
# A figure that does not fit on the disk is an error, not half a figure, though gnuplot itself says nothing.
command -v gnuplot >/dev/null || { echo "no gnuplot" >&2; exit 77; }
exec 2>&1
mkdir fake temp
export TMPDIR=$PWD/temp
try() {
	dos plot stride --hw h100-4x --model 7b -o "$1" 2>&1 | sed 's/dos-plot-......\b/dos-plot-NAME/'
	echo "exit ${PIPESTATUS[0]}"
}
ln -s /dev/full full.svg
try full.svg
ln -s absent/b.svg dangling.svg
try dangling.svg

# What gnuplot 5.4 does when the disk is full: half a file, exit 0.
cat >fake/gnuplot <<'END'
#!/bin/bash
file=${3#output = \'} file=${file%\'}
"$REAL" "$@"
truncate -s "$(($(stat -c %s "$file") - 20))" "$file"
END
chmod +x fake/gnuplot
export REAL=$(command -v gnuplot) PATH=$PWD/fake:$PATH
for suffix in svg png pdf; do
	try a.$suffix 2>&1 | sed "s#$PWD/##"
done
find . -type f
TMPDIR=/nowhere try a.svg
