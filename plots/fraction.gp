# SPDX-License-Identifier: GPL-3.0-or-later
# Block 0: fraction, simulated update, feasible, best update. Block 1: fraction, closed form, then a column a lane:
# lane_column_1, .. with lane[1], ..

array dashes[8]
dashes[1] = 1; dashes[2] = 2; dashes[3] = 1; dashes[4] = 2; dashes[5] = 4; dashes[6] = 5; dashes[7] = 1; dashes[8] = 2
array lane_column[8]
do for [i = 1:n_lane] { lane_column[i] = value(sprintf('lane_column_%d', i)) }

key_px = 0
set multiplot
eval legend_panel
set bmargin at screen py(bottom_px)
set lmargin at screen px(618)
set key at graph 0, 1 left top vertical Left reverse samplen 2.2 spacing 1.5 textcolor rgb ink
plot NaN notitle, \
	keyentry with points linecolor rgb ink pointtype 7 pointsize 0.8 * dot title 'simulated', \
	keyentry with points linecolor rgb ink pointtype 6 pointsize 1.7 * dot linewidth 1.5 title 'best simulated', \
	keyentry with points linecolor rgb ink pointtype 2 pointsize 0.8 * dot title 'simulated, does not fit', \
	for [i = 1:int(has_model)] keyentry with lines linecolor rgb '#9A9A9A' linewidth 5 title 'closed form', \
	for [i = 1:n_lane] keyentry with lines linecolor rgb color[i == 7 ? 8 : i] linewidth 1.8 dashtype dashes[i] title lane[i]
eval plot_panel

set lmargin at screen px(66)
set rmargin at screen px(598)
set tmargin at screen py(top_px + 24)
set bmargin at screen py(bottom_px - axis_px)
set xrange [0:1]
set yrange [0:*]
set xlabel 'fraction of the subgroups updated on the GPU' textcolor rgb ink
set label 1 'update (s)' at graph 0, 1 offset -4, 1 left textcolor rgb ink
plot for [i = 1:int(has_model)] data index 1 using 1:2 with lines linecolor rgb '#C4C4C4' linewidth 6 notitle, \
	for [i = 1:n_lane] data index 1 using 1:(column(int(lane_column[i]))) with lines linecolor rgb color[i == 7 ? 8 : i] linewidth 1.8 dashtype dashes[i] notitle, \
	data index 0 using 1:($3 == 0 ? NaN : $2) with points linecolor rgb ink pointtype 7 pointsize 0.8 * dot notitle, \
	data index 0 using 1:($3 == 0 ? $2 : NaN) with points linecolor rgb ink pointtype 2 pointsize 0.8 * dot notitle, \
	data index 0 using 1:4 with points linecolor rgb ink pointtype 6 pointsize 1.7 * dot linewidth 1.5 notitle
unset multiplot
