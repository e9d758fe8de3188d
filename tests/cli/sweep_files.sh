# SPDX-License-Identifier: GPL-3.0-or-later
# Databases that cannot be used: no database, of another program, of a newer version, a directory, a full disk.
try() { dos sweep --hw h100-4x --model 7b --policy zero3-offload --db "$1"; echo "exit $?" >&2; }
query() { dos db query "$1"; echo "exit $?" >&2; }
for i in 1 2 3 4 5 6 7 8; do echo "a text that is no database at all"; done >text.db
printf x >byte.db
mkdir folder.db
: >empty.db
try text.db
try byte.db
try folder.db
try /nonexistent/x.db
try /dev/null
query text.db
query byte.db
query folder.db
query missing.db
query empty.db
try empty.db
try :memory:
ls
cat byte.db && echo
query empty.db
