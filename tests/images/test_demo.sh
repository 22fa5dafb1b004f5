#!/bin/bash
# The demonstration's table, and its errors. BUILD is the argument.
# The demonstration itself boots machines and is not run here.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
clone=$(readlink -f "$(dirname "$0")/../..")
measure=$clone/images/measure
cd "$scratch" || exit 1
ln -s "$clone/images" .

# ---- The table

lines() {
    cat <<END
plain node=3 op=write B=0 C=0 bytes=2097152 us=4000000.00 routings=4
pio node=3 op=write B=4096 C=1 bytes=2097152 us=1000000.00 routings=4
pio node=3 op=write B=16384 C=2 bytes=2097152 us=400000.00 routings=4
plain node=3 op=read B=0 C=0 bytes=2097152 us=2000000.00 routings=4
pio node=3 op=read B=16384 C=2 bytes=2097152 us=500000.00 routings=4
plain node=2 op=write B=0 C=0 bytes=2097152 us=4000000.00 routings=1
pio node=2 op=write B=4096 C=1 bytes=2097152 us=1600000.00 routings=1
pio node=2 op=write B=16384 C=2 bytes=2097152 us=1000000.00 routings=1
plain node=2 op=read B=0 C=0 bytes=2097152 us=2000000.00 routings=1
pio node=2 op=read B=16384 C=2 bytes=2097152 us=800000.00 routings=1
END
}

rates_table() { # FILE
    python3 -B - "$measure" "$1" <<'END'
import sys
sys.path[:0] = [sys.argv[1]]
import demo, runs
paper = {(4096, 1, 1): 1.40323, (16384, 2, 1): 2.11595, (16384, 2, 4): 5.02614}
try:
    sys.stdout.write(demo.rates_table(open(sys.argv[2]).read().splitlines(), paper))
except runs.Failure as error:
    sys.exit(str(error))
END
}
lines >measured
status "table" 0 rates_table measured
same "table" "\
                     node 3, 4 disjoint routings    node 2, 1 disjoint routing
            B    C       MB/s  speed-up     paper       MB/s  speed-up     paper
write   plain         0.50000      1.00         -    0.50000      1.00         -
write    4096    1    2.00000      4.00         -    1.25000      2.50   1.40323
write   16384    2    5.00000     10.00   5.02614    2.00000      4.00   2.11595
read    plain         1.00000      1.00         -    1.00000      1.00         -
read    16384    2    4.00000      4.00         -    2.50000      2.50         -" "$(head -n 7 out)"
sed 's/ us=[0-9.]*//' measured >broken
status "a line without its time" 1 rates_table broken
check "says what is missing" grep -q "no us in: plain node=3" err

# ---- What make demo says while it builds

status "a build in short lines" 0 make -s -C "$clone" SHORT=1 B="$scratch/built" \
    "$scratch/built/obj/emu/base/nearest.o"
same "what is compiled" "  CC	emu/base/nearest.c" "$(cat out)"
for goals in "demo" "-j3 demo" "demo test"; do # setup and what a make starts are not carried out here
    status "make $goals: a make that starts another" 0 make -n -C "$clone" B="$build" $goals
    same "make $goals: without a warning" "" "$(grep -v "^make\[1\]: \(Enter\|Leav\)ing" err)"
done

# ---- The demonstration

status "no file to copy" 1 python3 -B "$measure/measure.py" "$build" demo "$scratch/none"
same "names it" "demo: $scratch/none: no such file, or not readable" "$(cat err)"
status "nothing built" 1 python3 -B "$measure/measure.py" "$scratch" demo
same "says so" "demo: $scratch/bin/ncube is missing; run \"make\"" "$(cat err)"

finish
