# Joins fanout's lines with the channel sets: busiest, then measured. For each size and n the times of joint and
# disjoint routings, the speed-up, and what the busiest channels predict for it.
FILENAME ~ /busiest$/ {
    busiest[$1] = $2
    next
}
{
    for (i = 2; i <= NF; i++) {
        split($i, pair, "=")
        value[pair[1]] = pair[2]
    }
    key = value["bytes"] " " value["n"]
    if (!(key in us))
        order[++keys] = key
    us[key] = 1
    time[key, value["kind"]] = value["us"]
    paths[key, value["kind"]] = busiest[value["to"]]
}
END {
    print "# bytes n joint_us disjoint_us speed-up predicted"
    for (k = 1; k <= keys; k++) {
        key = order[k]
        split(key, part, " ")
        if (part[1] != bytes && bytes != "")
            print "\n"
        bytes = part[1]
        printf "%7d %2d %11.2f %11.2f %8.2f %9.2f\n", bytes, part[2], time[key, "joint"], time[key, "disjoint"],
            time[key, "joint"] / time[key, "disjoint"], paths[key, "joint"] / paths[key, "disjoint"]
    }
}
