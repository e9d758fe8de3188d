# SPDX-License-Identifier: GPL-3.0-or-later
# Block 0: phase, start, end, parity. Blocks 1 and 2: time, GiB held from then on, of the GPU and of the host.

unit_s = length_s < 2 ? 1e-3 : 1
unit = length_s < 2 ? 'ms' : 's'
# The capacity is drawn where that leaves half of the panel to the curve.
roof(peak, capacity) = capacity <= 2 * peak ? 1.08 * (capacity > peak ? capacity : peak) : 1.2 * (peak > 0 ? peak : 1)

key_px = 0
set multiplot
eval legend_panel
plot NaN notitle
eval plot_panel

set lmargin at screen px(66)
set rmargin at screen px(884)
set style fill solid 1.0 noborder
set xrange [0:length_s / unit_s]
panel_px = (bottom_px - axis_px - top_px - 34 - 44) / 2

band = "data index 0 using ($4 == 0 ? ($2 + $3) / 2 / unit_s : NaN):(top / 2):($2 / unit_s):($3 / unit_s):(0):(top) with boxxyerror fillcolor rgb '#F3F3F3' notitle"
top = roof(gpu_peak_gib, gpu_capacity_gib)
set yrange [0:top]
set tmargin at screen py(top_px + 34)
set bmargin at screen py(top_px + 34 + panel_px)
set xtics format ''
set label 1 'GPU memory (GiB), peak ' . gpu_share at graph 0, 1 offset -4, 1.1 left textcolor rgb ink
plot @band, \
	data index 1 using ($1 / unit_s):2 with fillsteps fillcolor rgb color[6] notitle, \
	data index 1 using ($1 / unit_s):2 with steps linecolor rgb color[1] linewidth 1.5 notitle, \
	gpu_capacity_gib < top ? gpu_capacity_gib : NaN with lines linecolor rgb color[2] linewidth 1.5 dashtype 2 notitle, \
	data index 0 using ($3 - $2 > 0.05 * length_s ? ($2 + $3) / 2 / unit_s : NaN):(top):1 with labels offset 0, -0.8 textcolor rgb faint notitle

top = roof(host_peak_gib, host_capacity_gib)
set yrange [0:top]
set tmargin at screen py(top_px + 34 + panel_px + 44)
set bmargin at screen py(bottom_px - axis_px)
set xtics format '%g'
set xlabel 'time from the start of the iteration (' . unit . ')' textcolor rgb ink
set label 1 'host memory of the rank (GiB), peak ' . host_share at graph 0, 1 offset -4, 1.1 left textcolor rgb ink
plot @band, \
	data index 2 using ($1 / unit_s):2 with fillsteps fillcolor rgb color[5] notitle, \
	data index 2 using ($1 / unit_s):2 with steps linecolor rgb color[2] linewidth 1.5 notitle, \
	host_capacity_gib < top ? host_capacity_gib : NaN with lines linecolor rgb color[1] linewidth 1.5 dashtype 2 notitle
unset multiplot
