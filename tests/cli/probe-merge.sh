# SPDX-License-Identifier: GPL-3.0-or-later
# Three processes: medians, range in the source, an exclusion stays; one that verifies is enough; ids are unique. Files that are wrong.
header=id,hw,model,layers,hidden,heads,kv_heads,ffn,vocab,seq,gpus,mbs,grad_accum,checkpointing,policy,subgroup,n_subgroups,threads,forward_s,backward_s,update_s,other_s,iteration_s,gpu_peak_bytes,host_peak_bytes,exclude,source
for i in 1 2 4; do
	{
		echo $header
		echo "update-001,vm,,,,,,,,,1,,,,\"dos:stride=2,chain=published\",100,12,14,,,0.$i,,,,,,dos-probe update: median of 5; a VM"
		[ $i = 2 ] && mark='wrong result' || mark=
		echo "update-002,vm,,,,,,,,,1,,,,hybrid:fraction=0.5,100,12,16,,,0.25,,,,,$mark,dos-probe update: median of 5; a VM"
		[ $i = 1 ] && mark= || mark='not verified'
		echo "update-001,vm,,,,,,,,,1,,,,hybrid:fraction=0.5,100,12,8,,,0.25,,,,,$mark,dos-probe update: median of 5; a VM"
		echo "update-004,vm,,,,,,,,,1,,,,hybrid:fraction=0.5,100,12,4,,,0.25,,,,,not verified,dos-probe update: median of 5; a VM"
	} >$i.csv
done
dos-probe merge 1.csv 2.csv 4.csv -o out.csv && cat out.csv
echo "wrong" >bad.csv
dos-probe merge bad.csv -o out2.csv
try() { printf '%s\n' "$@" >bad.csv; dos-probe merge 1.csv bad.csv -o out2.csv; echo "exit $?" >&2; }
row() { echo "update-001,vm,,,,,,,,,${3-1},,,,$2,100,12,${4-14},,,$1,,,,,,note"; }
for time in 0 -1 1e300 1e-300 nan inf x ''; do try $header "$(row "$time" dos)"; done
try $header
try $header "$(row 0.2 dos)" "$(row 0.3 dos)"
try $header "$(row 0.2 dos 0)"
try $header "$(row 0.2 dos 1 7.5)"
try $header "$(row 0.2 '')"
try $header 'update-001,vm,0.2'
try $header "$(row 0.2 '"dos')"
try "${header/policy/polcy}" "$(row 0.2 dos)"
try "$header,more"
cp 1.csv again.csv
dos-probe merge 1.csv 2.csv again.csv -o out2.csv; echo "exit $?" >&2
[ ! -e out2.csv ] && echo nothing written
