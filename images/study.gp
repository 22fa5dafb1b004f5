# Speed-up of disjoint over joint routings against n, a curve per size. Variables: table, svg, most.
set terminal svg size 720,480 dynamic background rgb "white"
set output svg
set xlabel "destinations n"
set ylabel "speed-up of disjoint over joint routings"
set xrange [1:most]
set yrange [0:most]
set key top left
set grid
sizes = "8 64 512 4096 16384 65536"
plot for [i = 1:words(sizes)] table index (i - 1) using 2:5 with linespoints title word(sizes, i) . " bytes", \
     table index 0 using 2:6 with lines dashtype 2 linecolor "black" title "channel sets"
