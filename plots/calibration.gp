# SPDX-License-Identifier: GPL-3.0-or-later
# Blocks 0..n_label-1: level, share inside (%). Block n_label: row, half width of the whole, of the profile, of the model (%). row[] names.

key_px = 22 * key_rows
array hue[7]
hue[1] = ink; hue[2] = color[6]; hue[3] = color[1]; hue[4] = color[5]; hue[5] = color[2]; hue[6] = color[3]; hue[7] = color[4]
set multiplot
eval legend_panel
set key at graph 0, 1 left top horizontal Left reverse maxcols key_columns samplen 2 spacing 1.15 textcolor rgb ink
plot NaN notitle, \
	for [i = 1:n_label] keyentry with lines linecolor rgb hue[i] linewidth (i == 1 ? 3 : 1.5) title label[i], \
	keyentry with lines linecolor rgb faint dashtype 2 title 'exact'
eval plot_panel

set tmargin at screen py(top_px + key_px + 30)
set bmargin at screen py(bottom_px - axis_px)
set lmargin at screen px(66)
set rmargin at screen px(440)
set xrange [0:100]
set yrange [0:100]
set xtics 10
set ytics 10
set grid xtics ytics linecolor rgb rule
set arrow 1 from 90, 0 to 90, 100 nohead linecolor rgb faint linewidth 0.7 dashtype 3
set xlabel 'probability of the interval (%)' textcolor rgb ink
set label 1 'measurements inside (%)' at graph 0, 1 offset -4, 1 left textcolor rgb ink
plot x with lines linecolor rgb faint dashtype 2 notitle, \
	for [i = n_label:1:-1] data index i - 1 using 1:2 with lines linecolor rgb hue[i] linewidth (i == 1 ? 3 : 1.5) notitle

unset arrow 1
set lmargin at screen px(570)
set rmargin at screen px(886)
set xrange [0:*]
set yrange [n_row + 0.6:0.4]
set xtics autofreq
unset ytics
do for [i = 1:n_row] { set label 20 + i row[i] at graph 0, first i offset character -1, 0 right textcolor rgb ink }
set grid xtics noytics
set xlabel 'median half width at 90 % (% of prediction)' textcolor rgb ink
set label 1 'whole (bar), profile (circle), model (square)' at graph 0, 1 offset -4, 1 left textcolor rgb ink
set style fill solid 1.0 noborder
plot data index n_label using (0):1:(0):2:($1 - 0.3):($1 + 0.3) with boxxyerror fillcolor rgb '#CFCFCF' notitle, \
	data index n_label using 3:1 with points linecolor rgb color[1] pointtype 7 pointsize dot notitle, \
	data index n_label using 4:1 with points linecolor rgb color[2] pointtype 5 pointsize dot notitle
unset multiplot
