# Makes the table of docs/speedup.md from the study's (study.awk): the rows of n = 1, 2, 5 and `most`, and what the
# processor's share predicts. c: time between two disjoint messages, from n = 2; t: of a message alone. Then how well.
/^ *[0-9]/ {
    bytes[++rows] = $1
    n[rows] = $2
    joint[$1, $2] = $3
    disjoint[$1, $2] = $4
    measured[rows] = $5
    channels[rows] = $6
}
function predict(b, n,    t, c, last) {
    t = joint[b, 1]
    c = disjoint[b, 2] - disjoint[b, 1]
    last = (n - 1) * c + t
    return greater(n * t, last) / last
}
function difference(i,    d) {
    d = measured[i] / predict(bytes[i], n[i]) - 1
    return greater(d, -d)
}
function greater(a, b) {
    return a > b ? a : b
}
END {
    print "| bytes | n | joint, us | disjoint, us | speed-up | channel sets | with the processor | at most, t / c |"
    print "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for (i = 1; i <= rows; i++) {
        b = bytes[i]
        if (b >= 4096)
            worst = greater(worst, difference(i))
        if (n[i] != 1 && n[i] != 2 && n[i] != 5 && n[i] != most)
            continue
        printf "| %d | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", b, n[i], joint[b, n[i]], disjoint[b, n[i]],
            measured[i], channels[i], predict(b, n[i]), greater(joint[b, 1] / (disjoint[b, 2] - disjoint[b, 1]), 1)
    }
    printf "\nThe largest difference between both speed-ups, from 4096 bytes on: %.0f %%.\n", 100 * worst
}
