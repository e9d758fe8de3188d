# SPDX-License-Identifier: GPL-3.0-or-later
# Common to all plots: terminal by suffix, fixed colours, heading and source line. Variables come from dos plot: suffix, output,
# data, title, subtitle[], origin, command[] and those of the kind.

if (!exists('width')) width = 900
if (!exists('height')) height = 560
set encoding utf8
if (suffix eq 'svg') set terminal svg size width, height noenhanced font 'sans-serif,13' background rgb 'white'
if (suffix eq 'png') set terminal pngcairo size width, height noenhanced font 'sans-serif,10' background rgb 'white'
if (suffix eq 'pdf') set terminal pdfcairo size 18cm, (18.0 * height / width)*1cm noenhanced font 'sans-serif,10' pointscale 0.6 background rgb 'white'
set output output
set datafile separator tab

# Okabe and Ito's palette, distinguishable with any colour vision; the order is fixed.
array color[8]
color[1] = '#0072B2'; color[2] = '#D55E00'; color[3] = '#009E73'; color[4] = '#CC79A7'
color[5] = '#E69F00'; color[6] = '#56B4E9'; color[7] = '#000000'; color[8] = '#7F7F7F'
array point[8]
point[1] = 7; point[2] = 5; point[3] = 9; point[4] = 13; point[5] = 11; point[6] = 6; point[7] = 4; point[8] = 8
ink = '#222222'; faint = '#606060'; rule = '#DDDDDD'

# Screen coordinates from pixels of the 900-pixel layout.
px(x) = x / (1.0 * width)
py(y) = 1 - y / (1.0 * height)

big = suffix eq 'svg' ? 'sans-serif,17' : suffix eq 'png' ? 'sans-serif,13' : 'sans-serif,13'
small = suffix eq 'svg' ? 'sans-serif,11' : suffix eq 'png' ? 'sans-serif,8.3' : 'sans-serif,8.3'
set label 101 title at screen px(16), screen py(20) left font big textcolor rgb ink
set label 102 subtitle[1] at screen px(16), screen py(43) left textcolor rgb faint
if (n_subtitle > 1) set label 103 subtitle[2] at screen px(16), screen py(60) left textcolor rgb faint
set label 104 origin at screen px(16), screen py(height - 12 - 14 * n_command) left font small textcolor rgb faint
set label 105 command[1] at screen px(16), screen py(height + 2 - 14 * n_command) left font small textcolor rgb faint
if (n_command > 1) set label 106 command[2] at screen px(16), screen py(height - 12) left font small textcolor rgb faint
# What is left for the plot, in pixels from the top; axis_px of them for tick labels and title of the x axis. Points are larger in SVG.
axis_px = suffix eq 'svg' ? 68 : 58
dot = suffix eq 'svg' ? 0.7 : 1
top_px = 66 + 17 * (n_subtitle - 1)
bottom_px = height - 22 - 14 * n_command

# A multiplot starts with its legend, at the top of an empty panel with the heading around it; then come the plots.
legend_panel = "unset border; unset tics; unset grid; set xrange [0:1]; set yrange [0:1]; set lmargin at screen px(12); \
set rmargin at screen px(width - 12); set tmargin at screen py(top_px); set bmargin at screen 0.01"
axes_style = "set border 3 linecolor rgb faint; set xtics nomirror out scale 0.5 textcolor rgb ink; \
set ytics nomirror out scale 0.5 textcolor rgb ink; \
set grid ytics linecolor rgb rule linewidth 1 linetype 1; set xrange [*:*]; set yrange [*:*]"
plot_panel = "do for [i = 101:106] { unset label i }; unset key; " . axes_style
eval axes_style
