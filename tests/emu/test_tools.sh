#!/bin/bash
# ncube topo, route and place on machine files. BUILD is the argument. Nothing is booted.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
images=$(readlink -f "$(dirname "$0")/../../images")
ncube=$build/bin/ncube
cd "$scratch" || exit 1

cat >table1.conf <<END
dim = 9;
boards = ( { number = 3; io_nodes = ( $(for i in 0 1 2 3 4 5 6 7; do
    echo "{ index = $i; drives = ( { volume = \"df0$i\"; image = \"df0$i.img\"; } ); }$([ $i = 7 ] || echo ,)"
done) ); } );
END

# ---- Output that does not arrive

to_full_device() {
    "$ncube" topo table1.conf >/dev/full
}
status "a full device" 1 to_full_device
same "a full device: what it says" "ncube: standard output: No space left on device" "$(cat err)"

# ---- topo: Table 1 of [P0]

status "topo" 0 "$ncube" topo table1.conf
same "Table 1, first and last channel" "3 7 11 15 19 23 27 31 451 455 459 463 467 471 475 479" \
    "$(sed -n 's/^channel [07]//p' out | xargs)"
check "counts" grep -qx '9-cube: 512 compute nodes of 16 MB, 8 I/O nodes; the front end at node 0' out
echo "dim = 1; boards = ( { number = 0; io_nodes = ( { index = 0; si = [1]; } ); } );" >two.conf
status "topo of a small machine" 0 "$ncube" topo two.conf
same "one is one" "1-cube: 2 compute nodes of 16 MB, 1 I/O node; the front end at node 0" "$(head -1 out)"
echo "dim = 0;" >single.conf
status "topo of one node" 0 "$ncube" topo single.conf
same "none are none" "0-cube: 1 compute node of 16 MB, 0 I/O nodes; the front end at node 0" "$(head -1 out)"
status "topo --dot" 0 "$ncube" topo --dot table1.conf
same "links of the cube" $((9 * 256)) "$(grep -cE '^  "[0-9]+" -- "[0-9]+"' out)"
same "links of the boards" 64 "$(grep -cE '^  "3\.[0-9]" -- "[0-9]+"' out)"
same "braces" "graph ncube { }" "$(sed -n '1p;$p' out | xargs)"
status "topo --json" 0 "$ncube" topo --json table1.conf
same "I/O nodes in JSON" 8 "$(grep -c '"address"' out)"

# ---- route: the example of [P0 section 3]

status "route" 0 "$ncube" route "$images/sandia.conf" 3 3.1 3.2 3.3
check "hop by hop" grep -q '^3 -> 7 -> 15 -> 3\.3   3 hops, P = 2, 73935 cycles, 3696.75 us$' out
same "who shares" "share a channel: the paths to 3.1 and 3.3" "$(grep share out)"
check "both counts" grep -q 'routings: 2 by the channels, 2 by the theorem; paths on the busiest channel: 2' out
status "route by size" 0 "$ncube" route --bytes=0 "$images/sandia.conf" 0 31
check "8 bytes over 5 hops" grep -q '297 cycles, 14.85 us' out
status "route from an I/O node" 0 "$ncube" route --json table1.conf 3.0 511 host //df01
check "no theorem for it" grep -q '"disjoint_by_theorem": null' out
status "route by a channel" 0 "$ncube" route --via=0 table1.conf 3.0 511
check "by node 3" grep -q '^3\.0 -> 3 -> ' out
for bad in 512 -1 3.9 //df99 x "" 3.; do
    status "node '$bad'" 2 "$ncube" route table1.conf 0 "$bad"
    check "node '$bad' is named" grep -qF "'$bad'" err
done
status "no destination" 2 "$ncube" route table1.conf 0
status "an option at the end" 0 "$ncube" route table1.conf 0 1 --bytes=0
check "it is taken" grep -q '117 cycles' out
status "bad size" 2 "$ncube" route --bytes=1k table1.conf 0 1
status "into an I/O node by a channel" 0 "$ncube" route --via=7 table1.conf 0 3.0
check "by node 451" grep -q '^0 .* -> 451 -> 3\.0 ' out
status "channel not wired" 2 "$ncube" route --via=1 "$images/sandia.conf" 3.0 1
check "it says so" grep -q 'no way leads from 3.0 to 1 by that channel' err
status "a channel without an I/O node" 2 "$ncube" route --via=1 table1.conf 0 1
check "there is none" grep -q 'via is a channel of an I/O node' err
status "missing machine file" 1 "$ncube" route none.conf 0 1
check "the file is named" grep -q none.conf err

# ---- place: SI nodes are 3, 7, ... 31; nodes with both low bits set leave by dimensions 2, 3, 4 and channel 13

status "place" 0 "$ncube" place "$images/sandia.conf"
same "all nodes are ranked" 32 "$(tail -n +2 out | wc -l)"
same "the nodes with four come first" "3 7 11 15 19 23 27 31" "$(awk '$2 == 4 { print $1 }' out | xargs)"
same "node 2 has one" 1 "$(awk '$1 == 2 { print $2 }' out)"
status "place for one volume" 0 "$ncube" place --top=1 "$images/sandia.conf" df05
same "at its SI node" 23 "$(awk 'NR == 2 { print $1 }' out)"
status "place --json" 0 "$ncube" place --json --top=3 "$images/sandia.conf" //df00 df01
same "three of them" 3 "$(grep -c '"routings"' out)"
status "unknown volume" 2 "$ncube" place "$images/sandia.conf" df99
check "it is named" grep -qF "'df99'" err
echo "dim = 2;" >bare.conf
status "no volumes" 2 "$ncube" place bare.conf
status "place --top=0" 2 "$ncube" place --top=0 "$images/sandia.conf"

# ---- model: the paper's tables, and other networks

status "model" 0 "$ncube" model
same "it has nine rows of the paper's" 9 "$(grep -c 'the paper ' out)"
status "model --json" 0 "$ncube" model --json
same "the same rows" 9 "$(grep -c '"paper"' out)"
status "one block at a time" 0 "$ncube" model --disks=1 --block=1K --cpu-time=1000 --network-time=1000 --disk-time=2000
same "256 KB a second, by both solvers" "0.24414 0.24414" \
    "$(awk '/exponential|constant/ { print $(NF - 1) }' out | xargs)"
for bad in --disks=0 --disks=513 --buffers=x --routings=9 --cpu-time=-1 --cpu-time=1e10 --disk-time=inf \
    --network-time=nan --cpu-time=0 --block=2M --block=0 --block=2K '--disks=200 --buffers=3' \
    --bytes=0 --bytes=1025M --curve= --curve=5 --curve=1:2:3 --curve=1:2,1:3 --curve=2:2,1:3 --curve=0:0 --curve=-1:5 \
    --curve=0:5, '--curve=0:5;1:5' --curve=nan:5 word; do
    # shellcheck disable=SC2086
    status "model $bad" 2 "$ncube" model $bad
    same "model $bad: one line" 1 "$(wc -l <err)"
done
check "what it has no times for is named" grep -q "'word'" err
for command in "model" "disk create x 1M"; do
    for bad in 1025K 2M 100M; do
        # shellcheck disable=SC2086
        status "$command --block=$bad" 2 "$ncube" $command --block=$bad
        check "$command --block=$bad: its limit is that of the help" grep -q "block '$bad': give a size up to 1M" err
    done
done
rates() { # the rates of a file: constant service, and by a curve
    sed -n 's/.*"\(constant_file\|turning_file\)_mb_s": *\([0-9.]*\).*/\2/p' out | xargs
}
status "a curve that says what a constant time says" 0 "$ncube" model --json --disk-time=20500 --curve=0:20500
check "the same rate" grep -qE '^([0-9.]+) \1$' <<<"$(rates)"
same "it is that of a file of 2 MB" "$(rates | cut -d ' ' -f 1)" \
    "$("$ncube" model --json --disk-time=20500 --bytes=2M >out; rates)"
status "a drive that is twice as fast when it was idle" 0 "$ncube" model --json --disk-time=20500 --bytes=64K \
    --curve=0:20500,1:10250
check "another rate" grep -qvE '^([0-9.]+) \1$' <<<"$(rates)"
status "the largest block" 0 "$ncube" model --block=1M --cpu-time=1 --network-time=1 --disk-time=1

# ---- Options that do not exist

for command in topo route place model; do
    for bad in -x:-x -xy:-x --all:--all; do
        status "$command ${bad%:*}" 2 "$ncube" "$command" "${bad%:*}" table1.conf
        same "$command ${bad%:*}: what it says" \
            "ncube: unknown option '${bad#*:}'; see ncube $command --help" "$(cat err)"
    done
done

# ---- Machines by name, --set, check

for m in tiny:4:2 sandia:32:8 sandia-full:1024:64 full:8192:64; do
    IFS=: read -r name nodes io <<<"$m"
    status "topo $name" 0 "$ncube" topo "$name"
    check "$name: its nodes" grep -q ": $nodes compute nodes of .* MB, $io I/O nodes" out
done
same "128 drives" 128 "$("$ncube" topo full | grep -c ', drive ')"
echo "dim = 1;" >tiny
status "a file comes before a name" 0 "$ncube" topo tiny
check "it is the file" grep -q '^1-cube' out
rm tiny
status "no such machine" 1 "$ncube" topo huge
check "it is named" grep -q 'huge: No such file' err

status "--set" 0 "$ncube" topo --set dim=4 --set=front_end.si=3 --set drives.model=hp97560 --set boards.number=1 tiny
check "a key of the machine, of a group" grep -q '^4-cube: 16 .* front end at node 3$' out
same "of each drive" 2 "$(grep -c hp97560 out)"
check "of a list" grep -q '^df00 .*I/O node 1\.0' out
status "--set, as JSON" 0 "$ncube" topo --json --set drives.rpm=5400 --set io_nodes.service=concurrent tiny
same "what a drive's times depend on" "2 2" \
    "$(grep -c '"rpm": 5400' out) $(sed -n 's/.*"service": "\(.*\)".*/\1/p' out | grep -c concurrent)"
status "--set of a list's value" 0 "$ncube" topo --set 'io_nodes.si=[3]' --set dim=2 --set 'boards=()' tiny
for bad in dim=x:integer dim=99:range drives.foo=1:unknown faults.from_us=3:faults nogroup.x=1:unknown \
    drives.rpm=20000:10901 drives.model=fast:hp97560 front_end=3:group; do
    status "--set ${bad%:*}" 1 "$ncube" topo --set "${bad%:*}" tiny
    check "--set ${bad%:*} is named" grep -qF -- "--set ${bad%:*}" err
    check "--set ${bad%:*}: why" grep -q "${bad##*:}" err
    same "--set ${bad%:*}: one line" 1 "$(wc -l <err)"
done
for bad in = dim dim= .x=1 a.b.c=1; do
    status "--set $bad" 2 "$ncube" topo --set "$bad" tiny
    check "--set $bad is named" grep -qF "'$bad'" err
done
status "--set without a machine" 2 "$ncube" run --set dim=2 nothing

status "images of tiny" 0 "$ncube" disk create -m tiny --images few 2M
status "check" 0 "$ncube" check --images few tiny
check "all is good" grep -q 'tiny.conf: good; 4 compute nodes and 2 I/O nodes of 16 MB, 2 volumes, 1 QEMU process$' out
rm few/df01.img
status "an image is missing" 1 "$ncube" check --images few tiny
check "which" grep -q 'volume df01: few/df01.img: No such file' err
check "what to do" grep -q 'ncube disk create -m tiny --images few' err
truncate -s 2M few/df01.img
mke2fs -q -F -t ext2 -b 1024 few/df01.img
printf 'cfs = { volumes = ["df01"]; };\n' | cat "$(dirname "$ncube")/../machines/tiny.conf" - >cfs.conf
status "a disk of the CFS with other blocks" 1 "$ncube" check --images few --set io_nodes.service=concurrent \
    --set drives.cache_kb=256 cfs.conf
check "which, and what it needs" grep -q 'volume df01: few/df01.img: blocks of 1024 bytes; .* --block=4K' err
status "128 are missing" 1 "$ncube" check --images few full
same "not a line for each" 9 "$(wc -l <err)"
printf 'dim = 2;\nboards = (\n  { numbr = 3; }\n);\n' >bad.conf
status "a wrong key" 1 "$ncube" check bad.conf
same "it is shown" "3 | { numbr = 3; }" "$(sed -n 2p err | xargs -0 | tr -s ' ' | sed 's/^ //;/^$/d')"
cat >bad.conf <<'END'
dim = 3; colour = 1;
boards = ( { number = 3; io_nodes = (
  { index = 0; si = [0]; drives = ( { volume = "df00"; image = "a"; model = "zip"; },
                                    { volume = "df01"; } ); },
  { index = 1; si = [0]; service = "slow";
    drives = ( { volume = "df02"; image = "b"; rpm = 1; } ); }
); } );
timing = "no";
cycles = { alu = 0;
           load = "x"; };
END
status "many faults" 1 "$ncube" check bad.conf
same "each is said, with its line" "1 3 4 5 5 6 8 9 10" "$(sed -n 's/^ncube: bad.conf:\([0-9]*\): .*/\1/p' err | xargs)"
same "each line is shown" 9 "$(grep -c '^ *[0-9]* | ' err)"
status "a run" 1 "$ncube" run -m bad.conf program
same "says the first one" 1 "$(grep -c bad.conf: err)"
printf 'dim = 1;\nfaults = ( { node = 9; },\n  { drive = "df07"; } );\nstriped = 3;\n' >bad.conf
status "faults of several lists" 1 "$ncube" check bad.conf
same "each of them is said" "4 2 3" "$(sed -n 's/^ncube: bad.conf:\([0-9]*\): .*/\1/p' err | xargs)"
printf 'dim = ;\n' >bad.conf
status "no machine file" 1 "$ncube" check bad.conf
same "one line, and that of the file" 2 "$(wc -l <err)"
status "none at all" 1 "$ncube" check no-such.conf
same "one line" 1 "$(wc -l <err)"

finish
