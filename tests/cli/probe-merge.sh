# SPDX-License-Identifier: GPL-3.0-or-later
# Three processes: medians, range in the source, an exclusion stays; one that verifies is enough; ids are unique.
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
