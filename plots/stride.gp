# SPDX-License-Identifier: GPL-3.0-or-later
# Blocks: for series i (from 1) block 2i-2 has stride, update, iteration, feasible, best update, best iteration, and the ends of 90 %
# intervals of both; block 2i-1 the closed form: stride, with contention, without.

key_px = 22 * key_rows
set multiplot

# The legend: a panel of its own over the whole width.
eval legend_panel
set key at graph 0, 1 left top horizontal Left reverse maxcols key_columns samplen 2 spacing 1.15 textcolor rgb ink
plot NaN notitle, \
	for [i = 1:n_label] keyentry with linespoints linecolor rgb color[i] pointtype point[i] pointsize 0.8 * dot title label[i], \
	keyentry with points linecolor rgb faint pointtype 7 pointsize 0.8 * dot title 'simulated (x: does not fit)', \
	for [i = 1:int(has_closed)] keyentry with lines linecolor rgb faint linewidth 1.5 title 'closed form', \
	for [i = 1:int(has_idle)] keyentry with lines linecolor rgb faint linewidth 1.5 dashtype 3 title 'closed form, no contention'
eval plot_panel

set tmargin at screen py(top_px + key_px + 36)
set bmargin at screen py(bottom_px - axis_px)
set xlabel 'update stride k (0: none on the GPU)' textcolor rgb ink
set xtics 1
stats data using 1 nooutput
if (STATS_max - STATS_min > 16) set xtics autofreq
set xrange [STATS_min - 0.4 : STATS_max + 0.4]
set yrange [0:*]
set offsets 0, 0, graph 0.06, 0

set lmargin at screen px(66)
set rmargin at screen px(440)
set label 1 'update (s)' at graph 0, 1 offset -4, 1 left textcolor rgb ink
plot for [i = 1:n_label] data index 2*i - 2 using 1:($4 == 0 ? NaN : $2) with points linecolor rgb color[i] pointtype point[i] pointsize 0.8 * dot notitle, \
	for [i = 1:n_label] data index 2*i - 2 using 1:($4 == 0 ? $2 : NaN) with points linecolor rgb color[i] pointtype 2 pointsize 0.8 * dot notitle, \
	for [i = 1:n_label * has_intervals] data index 2*i - 2 using 1:7:(0):($8 - $7) with vectors nohead linecolor rgb color[i] linewidth 1.8 notitle, \
	for [i = 1:n_label] data index 2*i - 2 using 1:5 with points linecolor rgb color[i] pointtype 6 pointsize 1.7 * dot linewidth 1.5 notitle, \
	for [i = 1:n_label] data index 2*i - 1 using 1:2 with lines linecolor rgb color[i] linewidth 1.5 dashtype 1 notitle, \
	for [i = 1:n_label * has_idle] data index 2*i - 1 using 1:3 with lines linecolor rgb color[i] linewidth 1.5 dashtype 3 notitle

set lmargin at screen px(516)
set rmargin at screen px(886)
set label 1 'iteration (s)' at graph 0, 1 offset -4, 1 left textcolor rgb ink
plot for [i = 1:n_label] data index 2*i - 2 using 1:3 with lines linecolor rgb color[i] linewidth 0.7 dashtype 2 notitle, \
	for [i = 1:n_label] data index 2*i - 2 using 1:($4 == 0 ? NaN : $3) with points linecolor rgb color[i] pointtype point[i] pointsize 0.8 * dot notitle, \
	for [i = 1:n_label] data index 2*i - 2 using 1:($4 == 0 ? $3 : NaN) with points linecolor rgb color[i] pointtype 2 pointsize 0.8 * dot notitle, \
	for [i = 1:n_label * has_intervals] data index 2*i - 2 using 1:9:(0):($10 - $9) with vectors nohead linecolor rgb color[i] linewidth 1.8 notitle, \
	for [i = 1:n_label] data index 2*i - 2 using 1:6 with points linecolor rgb color[i] pointtype 6 pointsize 1.7 * dot linewidth 1.5 notitle
unset multiplot
