# SPDX-License-Identifier: GPL-3.0-or-later
# Block 0: measured, predicted (s), quantity, in fit. Block 1: x, error (%), quantity, in fit. column_name[], column_mean[] and
# column_worst[] of the right panel; quantity[] with has_1, .. names the colours.

array has[7]
do for [i = 1:7] { has[i] = value(sprintf('has_%d', i)) }

array full[7]; array hollow[7]
full[1] = 7; full[2] = 5; full[3] = 9; full[4] = 13; full[5] = 11; full[6] = 7; full[7] = 5
do for [i = 1:7] { hollow[i] = full[i] - 1 }

key_px = 66
set multiplot
eval legend_panel
set key at graph 0, 1 left top horizontal Left reverse maxcols 6 samplen 1 spacing 1.15 textcolor rgb ink
plot NaN notitle, \
	for [i = 1:7] (has[i] ? NaN : 1 / 0) with points linecolor rgb color[i] pointtype full[i] pointsize 0.8 * dot title (has[i] ? quantity[i] : ''), \
	keyentry with points linecolor rgb faint pointtype 6 pointsize 0.8 * dot title 'hollow: in the fit', \
	keyentry with lines linecolor rgb '#BBBBBB' linewidth 8 title 'within 5 %, 10 %'
eval plot_panel

set tmargin at screen py(top_px + key_px + 30)
set bmargin at screen py(bottom_px - axis_px - 4)
set style fill solid 1.0 noborder

set lmargin at screen px(66)
set rmargin at screen px(362)
set logscale xy
set grid xtics ytics linecolor rgb rule
stats data index 0 using 1:2 nooutput
low = n_times > 0 ? (STATS_min_x < STATS_min_y ? STATS_min_x : STATS_min_y) * 0.8 : 0.1
high = n_times > 0 ? (STATS_max_x > STATS_max_y ? STATS_max_x : STATS_max_y) * 1.25 : 10
set xrange [low:high]
set yrange [low:high]
set samples 50
set xlabel 'measured (s)' textcolor rgb ink
set label 1 'predicted (s)' at graph 0, 1 offset -4, 1 left textcolor rgb ink
plot '+' using 1:($1 * 0.9):($1 * 1.1) with filledcurves fillcolor rgb '#E4E4E4' notitle, \
	'+' using 1:($1 * 0.95):($1 * 1.05) with filledcurves fillcolor rgb '#CFCFCF' notitle, \
	x with lines linecolor rgb faint linewidth 1 notitle, \
	for [i = 1:5] data index 0 using ($3 == i && $4 == 0 ? $1 : NaN):2 with points linecolor rgb color[i] pointtype full[i] pointsize 0.7 * dot notitle, \
	for [i = 1:5] data index 0 using ($3 == i && $4 == 1 ? $1 : NaN):2 with points linecolor rgb color[i] pointtype hollow[i] pointsize 0.7 * dot notitle

unset logscale
set grid noxtics
set lmargin at screen px(432)
set rmargin at screen px(886)
edge = most > 40 ? 40 : most < 12 ? 12 : most * 1.05
set xrange [0.5:n_column_name + 0.5]
set yrange [-edge:edge]
set xtics () scale 0
unset xlabel
do for [i = 1:n_column_name] {
	set xtics add (column_name[i] i)
	set label 10 + i column_mean[i] at first i, screen py(bottom_px - 26) center font small textcolor rgb ink
	set label 20 + i column_worst[i] at first i, screen py(bottom_px - 11) center font small textcolor rgb ink
}
set xtics font small
set label 8 'mean' at screen px(426), screen py(bottom_px - 26) right font small textcolor rgb faint
set label 9 'worst' at screen px(426), screen py(bottom_px - 11) right font small textcolor rgb faint
set label 1 'error (%)' . (most > edge ? '; triangles: beyond the edge' : '') at graph 0, 1 offset -4, 1 left textcolor rgb ink
set object 1 rectangle from graph 0, first -10 to graph 1, first 10 behind fillcolor rgb '#E4E4E4' fillstyle solid noborder
set object 2 rectangle from graph 0, first -5 to graph 1, first 5 behind fillcolor rgb '#CFCFCF' fillstyle solid noborder
within(y) = y < -edge ? -edge : y > edge ? edge : y
plot 0 with lines linecolor rgb faint linewidth 1 notitle, \
	for [i = 1:7] data index 1 using ($3 == i && $4 == 0 && abs($2) <= edge ? $1 : NaN):2 with points linecolor rgb color[i] pointtype full[i] pointsize 0.6 * dot notitle, \
	for [i = 1:7] data index 1 using ($3 == i && $4 == 1 && abs($2) <= edge ? $1 : NaN):2 with points linecolor rgb color[i] pointtype hollow[i] pointsize 0.6 * dot notitle, \
	for [i = 1:7] data index 1 using ($3 == i && abs($2) > edge ? $1 : NaN):(within($2) * 0.97) with points linecolor rgb color[i] pointtype 9 pointsize 0.9 * dot notitle
unset multiplot
