# SPDX-License-Identifier: GPL-3.0-or-later
# Block 0: resource, change of time as text, rank, gain or loss per unit of log factor, colour. Block 1: factor, iteration time with
# line[1], .. times that. Block 2: where another value of the option is best: value, factor, time, line.

array dashes[4]
dashes[1] = 1; dashes[2] = 2; dashes[3] = 4; dashes[4] = 5
key_px = 22
set multiplot
eval legend_panel
set key at graph 0, 1 left top horizontal Left reverse maxcols 4 samplen 3 spacing 1.1 textcolor rgb ink
plot NaN notitle, \
	for [i = 1:n_line] keyentry with lines linecolor rgb color[i] linewidth 2 dashtype dashes[i] title line[i] . '      '
eval plot_panel

set lmargin at screen px(84)
set rmargin at screen px(386)
set tmargin at screen py(top_px + key_px + 30)
set bmargin at screen py(bottom_px - axis_px)
set yrange [8.6:-0.6]
set xrange [*:*]
set offsets 0, 0.12, 0, 0
unset ytics
set border 1
set grid xtics noytics linecolor rgb rule linewidth 1 linetype 1
set style fill solid 1.0 noborder
set xlabel 'elasticity: share of the time that it holds' textcolor rgb ink
set label 1 'time with +10 %' at graph 0, 1 offset -8, 1 left textcolor rgb ink
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linecolor rgb faint
plot for [i = 1:8] data index 0 using (0):($6 == i ? $3 : NaN):(0):($4 + $5):($3 - 0.32):($3 + 0.32) with boxxyerror fillcolor rgb color[i] notitle, \
	data index 0 using 5:3:1 with labels right offset character -0.8, 0 textcolor rgb ink notitle, \
	data index 0 using ($4 > 0 ? $4 : 0):3:2 with labels left offset character 0.6, 0 textcolor rgb ink notitle
unset arrow 1

eval axes_style
set lmargin at screen px(474)
set rmargin at screen px(884)
set logscale x 2
set xtics ('1/4' 0.25, '1/2' 0.5, '1' 1, '2' 2, '4' 4)
set xrange [0.25:4]
set yrange [0:*]
set offsets 0, 0, graph 0.06, 0
set grid ytics noxtics
set xlabel 'factor of the resource, all else as it is' textcolor rgb ink
set label 1 (option eq '' ? 'iteration (s)' : 'iteration (s); circles: from there on another ' . option . ' is best') at graph 0, 1 offset -5, 1 left textcolor rgb ink
plot for [i = 1:n_line] data index 1 using 1:(column(i + 1)) with lines linecolor rgb color[i] linewidth 2 dashtype dashes[i] notitle, \
	'+' using (1):(base_s) every ::0::0 with points linecolor rgb ink pointtype 7 pointsize (0.8 * dot) notitle, \
	data index 2 using 2:3 with points linecolor rgb ink pointtype 6 pointsize (1.3 * dot) notitle, \
	data index 2 using 2:3:1 with labels offset 0, 0.9 textcolor rgb ink notitle
unset multiplot
