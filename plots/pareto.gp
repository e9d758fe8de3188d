# SPDX-License-Identifier: GPL-3.0-or-later
# Block 0: GPUs, time of 1e6 tokens of every policy, cost of 1e6 tokens of every policy. Blocks 1..: host memory and time of the best of
# each policy within it. Ranges: least_s, most_s, most_cost, most_gib.

key_px = 20 * key_rows
n_panels = has_cost ? 3 : 2
gap = 62.0
panel_width = (900 - 20 - n_panels * gap) / n_panels
panel_left(i) = gap + (i - 1) * (panel_width + gap)
nice(x) = (p = 10.0**floor(log10(x)), x / p > 5 ? 10 * p : x / p > 2 ? 5 * p : x / p > 1 ? 2 * p : p)

set multiplot
eval legend_panel
set key at graph 0, 1 left top horizontal Left reverse maxcols key_columns samplen 2 spacing 1.15 textcolor rgb ink
plot NaN notitle, for [i = 1:n_label] keyentry with linespoints linecolor rgb color[i] pointtype point[i] pointsize dot linewidth 1.5 title label[i]
eval plot_panel

set tmargin at screen py(top_px + key_px + 36)
set bmargin at screen py(bottom_px - axis_px)

# Memory: linear.
set lmargin at screen px(panel_left(2))
set rmargin at screen px(panel_left(2) + panel_width)
set yrange [0:*]
set offsets 0, 0, graph 0.06, 0
set xrange [0:most_gib > 0 ? 1.06 * most_gib : 1]
set xtics nice(most_gib > 0 ? most_gib / 4 : 1)
set xlabel 'host memory in use (GiB)' textcolor rgb ink
set label 1 sprintf('time of 1e6 tokens (s), %d GPU%s', gpus, gpus > 1 ? 's' : '') at graph 0, 1 offset -5, 1.2 left textcolor rgb ink
plot for [i = 1:n_label] data index i using 1:2 with steps linecolor rgb color[i] linewidth 1.2 dashtype 3 notitle, \
	for [i = 1:n_label] data index i using 1:2 with points linecolor rgb color[i] pointtype point[i] pointsize dot notitle

# GPUs and cost: logarithmic, so that perfect scaling is a straight line.
unset offsets
set logscale y
mean_s = sqrt(least_s * most_s)
least_y = least_s < mean_s / 2 ? least_s / 1.3 : mean_s / 2.6
most_y = most_s > mean_s * 2 ? most_s * 1.3 : mean_s * 2.6
set yrange [least_y:most_y]
do for [decade = -3:6] { do for [digit in '1 2 5'] { set ytics add (sprintf('%g', digit * 10.0**decade) digit * 10.0**decade) } }
set mytics 1
set label 1 'time of 1e6 tokens (s)' at graph 0, 1 offset -5, 1.2 left textcolor rgb ink
set lmargin at screen px(panel_left(1))
set rmargin at screen px(panel_left(1) + panel_width)
set logscale x 2
set xtics autofreq
set xrange [1 / 1.15 : gpus * 1.15]
set xlabel 'GPUs' textcolor rgb ink
plot for [i = 1:n_label] data index 0 using 1:(column(1 + i)) with linespoints linecolor rgb color[i] pointtype point[i] pointsize dot linewidth 1.5 notitle

if (has_cost) {
	set lmargin at screen px(panel_left(3))
	set rmargin at screen px(panel_left(3) + panel_width)
	unset logscale x
	set xrange [0:1.06 * most_cost]
	set xtics nice(most_cost / 4)
	set xlabel cost textcolor rgb ink
	set label 1 'time of 1e6 tokens (s), numbers: GPUs'
	plot for [i = 1:n_label] data index 0 using (column(1 + n_label + i)):(column(1 + i)) with linespoints linecolor rgb color[i] pointtype point[i] pointsize dot linewidth 1.5 notitle, \
		data index 0 using (column(2 + n_label)):(column(2)):(sprintf('%d', $1)) with labels offset 1.2, 0.6 textcolor rgb faint notitle
}
unset multiplot
