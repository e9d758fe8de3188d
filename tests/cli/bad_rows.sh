# SPDX-License-Identifier: GPL-3.0-or-later
# Recorded runs that are wrong: file, line, column, exit 3.
try() { printf '%s\n' "$@" >rows.csv; echo "\$ $*" >&2; dos validate --set ./rows.csv; echo "exit $?" >&2; }
head=id,hw,model,gpus,policy,subgroup,n_subgroups,update_s
: >empty.csv
dos validate --set ./empty.csv
try id,hw,polcy
try id,hw,hw,policy
try id,policy
try $head 'a,tiny.json,7b,1,dos'
try $head 'a,tiny.json,7b,one,dos,,,1'
try $head 'a,tiny.json,7b,1.5,dos,,,1'
try $head 'a,tiny.json,7b,1,dos,,,-1'
try $head 'a,tiny.json,7b,1,dos,,,0'
try $head ',tiny.json,7b,1,dos,,,1'
try $head 'a,tiny.json,,1,dos,,,1'
try $head 'a,tiny.json,7b,1,dos,,24,1'
try $head 'a,tiny.json,7b,1,dos,,,1' 'a,tiny.json,7b,1,dos,,,1'
try $head 'a,tiny.json,7b,1,"dos,,,1'
try $head 'a,tiny.json,7b,1,"dos"x,,,1'
try $head 'a,missing.json,7b,1,dos,,,1'
printf 'id,hw,policy\n\0' >binary.csv
dos validate --set ./binary.csv
try $head
