# Makes the demonstration's table from piobench's lines, each ending in the number of channel-disjoint routings:
#
#   pio node=3 op=write B=4096 C=1 bytes=2097152 us=1477532.10 routings=4
#
# A row for each operation, B and C; a group of columns for each node, in the order of their first lines. MB is 2^20
# bytes, as in [P0]. "paper" is what the queuing model of [P0 section 3] predicts for PIO WRITE with so many routings
# (its Tables 2, 3 and 4): quoted, "-" where it says nothing.

BEGIN {
    paper[1, 4096, 1] = 1.40323   # Table 2
    paper[1, 8192, 1] = 1.89394
    paper[1, 16384, 1] = 2.09415  # Tables 2 and 3
    paper[4, 16384, 1] = 3.84260  # Table 3
    paper[8, 16384, 1] = 4.05712
    paper[1, 16384, 2] = 2.11595  # Table 4
    paper[4, 16384, 2] = 5.02614
    paper[8, 16384, 2] = 5.31237
}

function field(name,    i) {
    for (i = 2; i <= NF; i++)
        if (index($i, name "=") == 1)
            return substr($i, length(name) + 2)
    print "demo_table: no " name " in: " $0 > "/dev/stderr"
    exit failed = 1
}

{
    node = field("node")
    row = $1 == "plain" ? field("op") SUBSEP "plain" SUBSEP "" : field("op") SUBSEP field("B") SUBSEP field("C")
    if (!(node in routings)) {
        routings[node] = field("routings")
        nodes[n_nodes++] = node
    }
    if (!(row in row_seen)) {
        row_seen[row] = 1
        rows[n_rows++] = row
    }
    rate[node, row] = field("bytes") / 1048576 / (field("us") / 1000000)
}

function heading(    n, line) {
    line = sprintf("%-18s", "")
    for (n = 0; n < n_nodes; n++)
        line = line sprintf("   %-28s", "node " nodes[n] ", " routings[nodes[n]] " disjoint routing" \
                            (routings[nodes[n]] == 1 ? "" : "s"))
    line = line "\n" sprintf("%-5s  %6s  %3s", "", "B", "C")
    for (n = 0; n < n_nodes; n++)
        line = line sprintf("   %8s %9s %9s", "MB/s", "speed-up", "paper")
    sub(/ +\n/, "\n", line)
    return line
}

function cells(node, op, block, buffers, row,    plain, predicted) {
    plain = rate[node, op SUBSEP "plain" SUBSEP ""]
    predicted = "-"
    if (op == "write" && (routings[node], block, buffers) in paper)
        predicted = sprintf("%.5f", paper[routings[node], block, buffers])
    return sprintf("   %8.5f %9.2f %9s", rate[node, row], rate[node, row] / plain, predicted)
}

END {
    if (failed)
        exit 1
    print heading()
    for (r = 0; r < n_rows; r++) {
        split(rows[r], part, SUBSEP)
        line = sprintf("%-5s  %6s  %3s", part[1], part[2], part[3])
        for (n = 0; n < n_nodes; n++)
            line = line cells(nodes[n], part[1], part[2], part[3], rows[r])
        print line
    }
    print "paper: [P0]'s predictions for PIO WRITE (Tables 2 to 4). The best speed-ups of its experiments: write " \
          "11.84, read 4.53."
}
