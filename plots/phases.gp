# SPDX-License-Identifier: GPL-3.0-or-later
# Block 0: label, total as text, y, forward, backward, update, other, total, ends of its 90 % interval, place of the text. heading[] at heading_y[]. y in pixels from the panel's top.

array phase[4]
phase[1] = 'forward'; phase[2] = 'backward'; phase[3] = 'update'; phase[4] = 'other'
array paint[4]
paint[1] = color[6]; paint[2] = color[1]; paint[3] = color[5]; paint[4] = '#B0B0B0'

key_px = 22
set multiplot
eval legend_panel
set key at graph 0, 1 left top horizontal Left reverse samplen 1.5 spacing 1.1 textcolor rgb ink
set style fill solid 1.0 noborder
plot NaN notitle, for [i = 1:4] keyentry with boxes fillcolor rgb paint[i] title phase[i]
eval plot_panel

set lmargin at screen px(label_px + 12)
set rmargin at screen px(width - 24)
set tmargin at screen py(top_px + key_px)
set bmargin at screen py(top_px + key_px + panel_px)
set yrange [panel_px:0]
set xrange [0:max_s * 1.16]
unset ytics
set border 1
set grid xtics noytics
set xlabel 'time of one iteration (s)' textcolor rgb ink
do for [i = 1:n_heading] { set label i heading[i] at screen px(16), first real(heading_y[i]) left textcolor rgb color[1] }
at_left(i) = i == 1 ? 0 : sum [j = 1:i - 1] column(3 + j)
wide(i) = column(3 + i) > 0.075 * max_s
plot for [i = 1:4] data index 0 using (at_left(i)):3:(at_left(i)):(at_left(i) + column(3 + i)):($3 - 9):($3 + 9) with boxxyerror fillcolor rgb paint[i] notitle, \
	for [i = 1:4] data index 0 using (wide(i) ? at_left(i) + column(3 + i) / 2 : NaN):3:(sprintf('%.3g', column(3 + i))) with labels textcolor rgb (i == 2 ? '#FFFFFF' : '#1A1A1A') notitle, \
	data index 0 using (0):3:1 with labels right offset character -0.8, 0 textcolor rgb ink notitle, \
	for [i = 1:int(has_intervals)] data index 0 using 8:3:9:10 with xerrorbars linecolor rgb ink linewidth 1 pointtype 0 notitle, \
	data index 0 using 11:3:2 with labels left offset character 0.8, 0 textcolor rgb ink notitle
unset multiplot
