# SPDX-License-Identifier: GPL-3.0-or-later
# Block 0: phase, start, end, parity. Blocks 1 (all) and 2 (one phase): start, end, row, class. lane[] from the top.

array paint[8]
paint[1] = color[2]; paint[2] = color[5]; paint[3] = color[1]; paint[4] = color[4]
paint[5] = color[6]; paint[6] = color[3]; paint[7] = '#555555'; paint[8] = '#D0D0D0'

# Milliseconds below two seconds.
unit_s = length_s < 2 ? 1e-3 : 1
unit = length_s < 2 ? 'ms' : 's'

key_px = 22 * key_rows
set multiplot
eval legend_panel
set style fill solid 1.0 noborder
set key at graph 0, 1 left top horizontal Left reverse maxcols key_columns samplen 1.5 spacing 1.15 textcolor rgb ink
plot NaN notitle, for [i = 1:n_class] keyentry with boxes fillcolor rgb paint[int(class_number[i])] title class[i]
eval plot_panel

set lmargin at screen px(126)
set rmargin at screen px(884)
set yrange [n_lane + 0.5:0.5]
set grid xtics noytics linecolor rgb rule
set border 1
set ytics () scale 0
do for [i = 1:n_lane] { set ytics add (lane[i] i) }

first_px = top_px + key_px + 30
set tmargin at screen py(first_px)
set bmargin at screen py(first_px + panel_px)
set xrange [0:length_s / unit_s]
plot data index 0 using ($4 == 0 ? ($2 + $3) / 2 / unit_s : NaN):(n_lane / 2.0 + 0.5):($2 / unit_s):($3 / unit_s):(0.5):(n_lane + 0.5) with boxxyerror fillcolor rgb '#F3F3F3' notitle, \
	for [i = 1:8] data index 1 using ($4 == i ? $1 / unit_s : NaN):3:($1 / unit_s):($2 / unit_s):($3 - 0.36):($3 + 0.36) with boxxyerror fillcolor rgb paint[i] notitle, \
	data index 0 using ($3 - $2 > 0.05 * length_s ? ($2 + $3) / 2 / unit_s : NaN):(0.5):1 with labels offset 0, 0.7 textcolor rgb faint notitle

second_px = first_px + panel_px + 62
set tmargin at screen py(second_px)
set bmargin at screen py(second_px + panel_px)
set xrange [zoom_from_s / unit_s:zoom_to_s / unit_s]
set xlabel 'time from the start of the iteration (' . unit . ')' textcolor rgb ink
set label 1 zoom . ', enlarged' at graph 0.5, 1 offset 0, 0.7 center textcolor rgb faint
plot for [i = 1:8] data index 2 using ($4 == i ? $1 / unit_s : NaN):3:($1 / unit_s):($2 / unit_s):($3 - 0.36):($3 + 0.36) with boxxyerror fillcolor rgb paint[i] notitle
unset multiplot
