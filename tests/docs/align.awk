# Finds the lines that a page shows in an output, and prints the page's lines as the output has them: exit status 1 if
# one is not there. A line "..." stands for any lines, and is printed as it is. `mode` as in commands.awk; the files:
#
#   of=1 SHOWN of=2 OUTPUT of=3 SHOWN of=4 OUTPUT    of=3 and 4: the same lines as they are compared

of == 1 { shown[++n] = $0 }
of == 2 { output[++m] = $0 }
of == 3 { want[++wanted] = $0 }
of == 4 { got[++gotten] = $0 }

function fits(i, j) {
    if (i > n)
        return j > m
    if (want[i] == "...")
        return fits(i + 1, j) || (j <= m && fits(i, j + 1))
    at[i] = j
    return j <= m && want[i] == got[j] && fits(i + 1, j + 1)
}

# Finds line i where it stands as it is, or as it is compared.
function find(i, exact,    j) {
    for (j = 1; j <= m; j++)
        if (!(j in taken) && (exact ? shown[i] == output[j] : want[i] == got[j])) {
            taken[j] = at[i] = j
            return 1
        }
    return 0
}

# In any order, each line of the output once.
function fits_anywhere(    i, found, others) {
    others = mode ~ /among others/
    for (i = 1; i <= n; i++)
        if (want[i] == "...")
            others = 1
        else
            found += find(i, 1)
    for (i = 1; i <= n; i++)
        if (want[i] != "..." && !(i in at)) {
            if (!find(i, 0))
                return 0
            found++
        }
    return others || found == m
}

END {
    ok = mode ~ /any order|among others/ ? fits_anywhere() : fits(1, 1)
    for (i = 1; ok && i <= n; i++)
        print want[i] == "..." ? "..." : output[at[i]]
    exit !ok
}
