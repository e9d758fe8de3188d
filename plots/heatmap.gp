# SPDX-License-Identifier: GPL-3.0-or-later
# Block 0: stride as text, update time as text, x, y, paint, ink. cpu[] and link[] label the rows and columns; cpu_own and link_own
# are those of the profile as it is (0: not among them).

set lmargin at screen px(84)
set rmargin at screen px(884)
set tmargin at screen py(top_px + 8)
set bmargin at screen py(bottom_px - axis_px - 6)
set xrange [0.5:n_link + 0.5]
set yrange [0.5:n_cpu + 0.5]
unset grid
set border 0
set tics scale 0
set xtics () textcolor rgb ink
set ytics () textcolor rgb ink
do for [i = 1:n_link] { set xtics add (link[i] i) }
do for [i = 1:n_cpu] { set ytics add (cpu[i] i) }
set xlabel (has_rates ? 'link, one way, pinned (GB/s); both directions scaled alike' : 'link rate over that of the profile') textcolor rgb ink
set ylabel (has_rates ? 'CPU Adam of one rank alone (G parameters/s)' : 'CPU rate over that of the profile') textcolor rgb ink offset -0.5, 0
if (cpu_own > 0 && link_own > 0) set object 1 rectangle from link_own - 0.47, cpu_own - 0.46 to link_own + 0.47, cpu_own + 0.46 front fillstyle empty border linecolor rgb '#D55E00' linewidth 3
if (cpu_own > 0 && link_own > 0) set label 1 'frame: the profile as it is' at screen px(884), screen py(bottom_px - 8) right font small textcolor rgb '#D55E00'
set style fill solid 1.0 border rgb 'white'
cell_px = (bottom_px - axis_px - 6 - top_px - 8) / (1.0 * n_cpu)
has_times = cell_px > 30 && 800.0 / n_link > 58
unset key
plot data index 0 using 3:4:($3 - 0.5):($3 + 0.5):($4 - 0.5):($4 + 0.5):5 with boxxyerror fillcolor rgb variable, \
	data index 0 using 3:($4 + (has_times ? 0.17 : 0)):1:6 with labels textcolor rgb variable, \
	data index 0 using (has_times ? $3 : NaN):($4 - 0.22):2:6 with labels font small textcolor rgb variable
