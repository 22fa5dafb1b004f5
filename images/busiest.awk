# What was busy between two statistics (docs/statistics.md): prints the busiest drive in %, the busiest channel in %,
# and the channels that are as busy as that one, to 2 %, such as "0→1, 1→3". Variables: us, the time between them;
# files:
#
#   of=1 BEGIN of=2 END

/^ "[a-z_]*": [[]/ { split($0, word, "\""); part = word[2] }
{
    key = $1
    gsub(/[":]/, "", key)
    value[key] = $2 + 0
}
key == "volume" { split($0, word, "\""); drive[value["node"]] = "//" word[4] }
key == "busy_cycles" && part ~ /^(channels|drives)$/ {
    what = part == "drives" ? "drive " value["node"] : value["from"] " " value["to"]
    if (of == 1)
        before[what] = value[key]
    else
        busy[what] = (value[key] - before[what]) / 20 / us
}

function name(node) { return node in drive ? drive[node] : node }

END {
    for (what in busy) {
        kind = what ~ /^drive/ ? "drive" : "channel"
        if (busy[what] > most[kind])
            most[kind] = busy[what]
    }
    for (what in busy)
        if (what !~ /^drive/ && busy[what] >= most["channel"] - 0.02) {
            split(what, end, " ")
            order = end[1] * 65536 + end[2]
            for (i = n++; i > 0 && place[i - 1] > order; i--) {
                place[i] = place[i - 1]
                text[i] = text[i - 1]
            }
            place[i] = order
            text[i] = name(end[1]) "→" name(end[2])
        }
    printf "%.1f %.1f ", 100 * most["drive"], 100 * most["channel"]
    for (i = 0; i < n && i < 4; i++)
        printf "%s%s", (i > 0 ? ", " : ""), text[i]
    print (n > 4 ? " and " n - 4 " more" : "")
}
