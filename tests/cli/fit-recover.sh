# SPDX-License-Identifier: GPL-3.0-or-later
# Rows of a simulated machine; fitted from a start whose constants are off, they give the machine back. The profile is one.
export SOURCE_DATE_EPOCH=86400
start=$DOS_SRC/hwprofiles/a100-4x.json
row() { # ID GPUS POLICY
	dos simulate --hw "$start" --model 7b --gpus "$2" --policy "$3" --format json -q |
		sed -n 's/^ *"\(forward_s\|backward_s\|update_s\)": \([0-9.e-]*\),*$/\2/p' | paste -sd, | sed "s/^/$1,lab,7b,$2,\"$3\",/"
}
{
	echo id,hw,model,gpus,policy,forward_s,backward_s,update_s
	row zero3 4 zero3-offload
	row k2 4 dos:stride=2
	row k4 4 dos:stride=4
	row one 1 zero3-offload
} >rows.csv
sed -e 's/"dram_Bps": {"value": 1.3e11/"dram_Bps": {"value": 2e11/' \
	-e 's/"flush_pageable_params_per_s": {"value": 2.01e09/"flush_pageable_params_per_s": {"value": 1.2e09/' "$start" >start.json
dos fit --hw ./start.json rows.csv --param dram_Bps --param flush_pageable_params_per_s --noise 0.1% --leave-out none --format csv \
	-o fitted.json | cut -d, -f 1,2,7
dos profile check fitted.json --format csv
dos profile diff "$start" fitted.json --format csv | awk -F, 'NR > 1 { d = $5 < 0 ? -$5 : $5; print $1, (d < 0.01 ? "within 1 %" : $5) }'
sed -n '/"provenance"/,/"machine"/p' fitted.json | grep -v machine
grep -A 6 '"fitted_on"' fitted.json | head -n 6
dos validate --set ./rows.csv --hw ./fitted.json --format json | grep -E '"n_(rows|predicted|excluded)"'
dos fit --hw ./start.json rows.csv --param dram_Bps -o - | dos profile check -  --format csv | cut -d, -f 2
dos fit --hw ./start.json rows.csv --param dram_Bps --format json -q | grep -oE '^  "[a-z_]+"' | paste -sd' '
