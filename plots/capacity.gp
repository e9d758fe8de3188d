# SPDX-License-Identifier: GPL-3.0-or-later
# Blocks 0, 1, 2: GPUs, GiB of a GPU, GiB of the host; then the largest model of every policy in 1e9 parameters.

key_px = 20 * key_rows
panel_left(i) = 56 + (i - 1) * 284
set multiplot
eval legend_panel
set key at graph 0, 1 left top horizontal Left reverse maxcols key_columns samplen 2 spacing 1.15 textcolor rgb ink
plot NaN notitle, for [i = 1:n_label] keyentry with linespoints linecolor rgb color[i] pointtype point[i] pointsize dot linewidth 1.5 title label[i]
eval plot_panel

set tmargin at screen py(top_px + key_px + 36)
set bmargin at screen py(bottom_px - axis_px)
highest = 0
array least[3]
array most[3]
set xrange [*:*]; set yrange [*:*]
do for [k = 0:2] { do for [i = 1:n_label] { stats data index k using (column(1 + i)) nooutput; highest = STATS_max > highest ? STATS_max : highest } }
do for [k = 1:3] { stats data index k - 1 using 1 nooutput; least[k] = STATS_min; most[k] = STATS_max }
set yrange [0:highest * 1.06]
array here[3]
here[1] = NaN; here[2] = gpu_gib; here[3] = host_gib
array axis_title[3]
axis_title[1] = 'GPUs'; axis_title[2] = 'memory of one GPU (GiB)'; axis_title[3] = 'host memory (GiB)'
nice_step(x) = 10**floor(log10(x)) * (x / 10**floor(log10(x)) < 1.5 ? 1 : x / 10**floor(log10(x)) < 3 ? 2 : x / 10**floor(log10(x)) < 7 ? 5 : 10)
do for [k = 1:3] {
	set lmargin at screen px(panel_left(k))
	set rmargin at screen px(panel_left(k) + 244)
	if (k == 1) { set logscale x 2; set xrange [least[k] / 1.15 : most[k] * 1.15]; set xtics autofreq } \
	else { unset logscale x; set xrange [0 : most[k] * 1.04]; set xtics nice_step(most[k] / 4) }
	set xlabel axis_title[k] textcolor rgb ink
	if (k == 1) { set label 1 'parameters (1e9)' at graph 0, 1 offset -5, 1.2 left textcolor rgb ink } else { unset label 1; set ytics format '' }
	if (k > 1) { set arrow 1 from here[k], graph 0 to here[k], graph 1 nohead linecolor rgb faint dashtype 2 }
	plot for [i = 1:n_label] data index k - 1 using 1:(column(1 + i)) with linespoints linecolor rgb color[i] pointtype point[i] pointsize dot linewidth 1.5 notitle
}
unset multiplot
