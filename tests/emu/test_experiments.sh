#!/bin/bash
# ncube experiments: a short report, the same bytes twice, and what goes wrong. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncube=$build/bin/ncube
command -v gnuplot >/dev/null || { skip "ncube experiments" "gnuplot is not installed"; finish; }
cd "$scratch" || exit 1
mkdir tmp
export TMPDIR=$scratch/tmp

machine() { # DIM MODEL...: a machine with a volume for each model
    local dim=$1 i=0
    shift
    echo "dim = $dim; boards = ( { number = 0; io_nodes = ("
    for model in "$@"; do
        [ $i = 0 ] || echo ","
        echo "{ index = $i; si = [$i]; drives = ( { volume = \"v$i\"; image = \"$scratch/own$i.img\"; $model } ); }"
        i=$((i + 1))
    done
    echo "); } ); front_end = { si = $(((1 << dim) - 1)); };"
}
experiments() { "$ncube" experiments "$@"; }
column() { # ROW COLUMN: a cell of the report's first table with such a row
    awk -F ' *[|] *' -v row="$1" -v column="$2" '$2 == row { print $column; exit }' report/report.md
}
is_more() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 > b + 0) }'; }

# ---- A report

machine 2 "" "" >two.conf
status "a short report" 0 experiments --out report --only nodes --bytes 16K --keep kept two.conf
same "nothing on standard error" "" "$(cat err)"
same "what is written" "nodes.svg report.html report.md runs.json" "$(ls report | xargs)"
same "the raw figures: transfers" 6 "$(grep -c '"write": {' report/runs.json)"
check "more of them are left out" grep -q '^Left out: more than 4 nodes' report/report.md
same "rows of 1, 2 and 4 nodes" 6 "$(grep -cE '^[|] (first|last) [124] ' report/report.md)"
check "four nodes are faster than one" is_more "$(column "first 4" 3)" "$(column "first 1" 3)"
for plot in report/*.svg; do
    grep -o "<use [^>]*translate[^>]*" "$plot" >points
    same "$plot: four colours, also for viewers without style sheets" 4 \
        "$(grep -o "color='rgb.*'" points | sort -u | wc -l)"
    same "$plot: four kinds of points" 4 "$(grep -o 'gpPt[0-9]*' points | sort -u | wc -l)"
    check "$plot: no variables of a style sheet" test "$(grep -c 'var(' $plot)" = 0
done
check "the plot is in the page" test "$(grep -c '<svg' report/report.html)" = 1
check "the page is well-formed" test "$(grep -o '<table' report/report.html | wc -l)" = \
    "$(grep -o '</table' report/report.html | wc -l)"
check "the user's images were not made" test ! -e own0.img
mv report first
status "the same again" 0 experiments --out report --only nodes --bytes 16K --keep kept two.conf
for file in first/*; do
    check "$file: the same bytes" cmp "$file" "report/${file#first/}"
done

# ---- Settings of the command line, and sentences

server() { column "WRITE, 4 KB" 10; } # ms
far() { grep -c "^\\* WRITE, [0-9]* KB, processor: .* less than the paper's" report/report.md; }
status "service times" 0 experiments --out report --only service --bytes 64K --keep kept two.conf
same "no sentence, as stated costs are within 10 % of the paper's" 0 "$(far)"
slow=$(server)
status "service times by instructions, with faster drives" 0 experiments --out report --only service --bytes 64K \
    --set costs=instructions --set drives.rpm=7200 two.conf
same "a sentence for what is far from the paper's, by more than 10 %" 2 "$(far)"
check "they are faster" is_more "$slow" "$(server)"
check "the report says what was set" grep -q \
    '^Set on the command line, for all machines: costs=instructions, drives.rpm=7200[.]' report/report.md

# ---- What is left out

echo "dim = 1;" >none.conf
machine 1 "" >one.conf
status "no volumes" 0 experiments --out report --only figures --only plain --only service none.conf
same "it says so in each part" 3 "$(grep -c '^Left out: none.conf has no volumes' report/report.md)"
status "one volume" 0 experiments --out report --only figures one.conf
check "it says so" grep -q '^Left out: one.conf has one volume' report/report.md

machine 2 "" 'model = "hp97560";' >unlike.conf
status "volumes that are not alike" 0 experiments --out report --only plain --bytes 16K unlike.conf
check "it says which" grep -q '^Left out: predictions for unlike.conf. Its volumes v0 and v1 are not alike' \
    report/report.md
check "rates are measured all the same" grep -qE '^[|] 8 KB [|] [0-9.]+ [|] [0-9.]+ [|]' report/report.md

# ---- Another paper's study is one file

mkdir other
ln -s "$build"/{lib,examples,machines} other
cp -R "$build"/{bin,measure} other
cat >other/measure/paper_999.py <<'END'
from page import Plot, difference

PAPER = {4096: 1000, 8192: 2000}  # us
TITLE, MACHINE = "A stand-in", "tiny"


class Study:
    def __init__(self, lab, path, size, full):
        self.lab, self.path, self.size, self.full, self.results = lab, path, size, full, {}

    def json(self):
        return self.results


study = Study


def introduce(x, page):
    page.paragraph("On %s, %s%s." % (x.path.split("/")[-1], x.size, ", full" if x.full else ""))


def section_net(x, page):
    lines = x.lab.run("-d", 2, x.lab.example("netmon")).lines
    x.results = {line["bytes"]: float(line["us"]) for line in lines if int(line["bytes"]) in PAPER}
    page.table("bytes|us|paper|difference", lambda n: [n, "%g" % x.results[n], str(PAPER[int(n)]),
               difference(x.results[n], PAPER[int(n)])], x.results)
    page.plot(Plot("net", "bytes", "us", [("ours", [(int(n), us) for n, us in x.results.items()]),
                                          ("paper", list(PAPER.items()))]), "Ours beside the paper's.")


SECTIONS = [("net", "The network", section_net)]
END
other/bin/ncube experiments --help >help
same "all are listed" "of paper 0 of paper 2 of paper 3 of paper 4 of paper 999" "$(grep '^of paper' help | xargs)"
status "its study" 0 other/bin/ncube experiments --paper 999 --full --bytes 8K --keep kept --out report
check "it gets machine, bytes and --full" grep -q '^On tiny.conf, 8192, full[.]' report/report.md
same "ours beside the paper's" "| 8192 | 3690.9 | 2000 | +84.5 % |" "$(grep '^| 8192' report/report.md |
    sed 's/  */ /g')"
same "a plot of both" 2 "$(grep -o '>\(ours\|paper\)<' report/net.svg | sort -u | wc -l)"
mv report first999
sed -i 's/PAPER = .*/PAPER = {4096: 1000}/' other/measure/paper_999.py
runs=$(ls kept)
status "again, with --keep" 0 other/bin/ncube experiments --paper 999 --keep kept --out report
check "another table" test "$(grep -c '^| [48]' report/report.md)" = 1
same "of the run that was kept" "$runs" "$(ls kept)"

# ---- What goes wrong

refused() { # NAME STATUS TEXT WORD...: one line that has TEXT, and no report
    local name=$1 expected=$2 text=$3
    shift 3
    rm -rf no
    status "$name" "$expected" experiments --out no "$@"
    same "$name: one line" 1 "$(wc -l <err)"
    check "$name: it says '$text'" grep -qF -- "$text" err
    check "$name: no report" test ! -e no
}

parts="service, plain, figures, model, disks, buffers, blocks, random, nodes"
refused "an unknown part" 2 "no part 'figure'; there are $parts" --only figure two.conf
refused "a paper without a study" 2 "no study of paper '7'; there is 0, 2, 3, 4" --paper 7 two.conf
refused "no paper" 2 "paper 'x'" --paper x two.conf
refused "odd bytes" 2 "bytes '5000'" --bytes 5000 two.conf
refused "no bytes" 2 "bytes '0'" --bytes 0 two.conf
refused "an image of the user's" 2 "set 'drives.image=own0.img'" --set drives.image=own0.img two.conf
refused "a setting of nothing" 1 "drivers.rpm=7200" --set drivers.rpm=7200 two.conf
refused "no setting" 2 "set 'rpm'" --set rpm two.conf
refused "two machines" 2 "'two.conf'" one.conf two.conf
refused "no such file" 1 "missing.conf" missing.conf
echo "dim = 99;" >bad.conf
refused "a bad machine file" 1 "bad.conf:1" bad.conf
refused "a pipe" 1 "cannot copy it" --only service <(cat two.conf)
touch file
status "a folder that is a file" 1 experiments --out file --only service none.conf
same "a folder that is a file: one line" 1 "$(wc -l <err)"
check "it is named" grep -q 'file/report.md' err

# A full disk: a file system of 8 KB, where the host lets us mount one.
mkdir small
if unshare -rm mount -t tmpfs -o size=8k none small 2>/dev/null; then
    # shellcheck disable=SC2016
    unshare -rm sh -c 'mount -t tmpfs -o size=8k none small; "$0" experiments --out small/report --only nodes \
        --bytes 16K --keep kept two.conf; echo $?; ls small' "$ncube" >out 2>err
    same "a full disk: status 1, nothing left" "1" "$(xargs <out)"
    same "a full disk: one line" 1 "$(wc -l <err)"
    check "it says so" grep -q 'No space left on device' err
else
    echo "test_experiments: no small file system can be mounted; a full disk is not tested"
fi

# Ended by a signal
"$ncube" experiments --out no --only figures two.conf >out 2>err &
pid=$!
until compgen -G "tmp/*/new.*/out" >/dev/null; do
    kill -0 $pid || break
    sleep 0.05
done
kill -TERM $pid
wait $pid
same "a signal: status" 143 $?
check "no report" test ! -e no
same "no process of it is left" "" "$(ls -l /proc/[0-9]*/cwd 2>/dev/null | grep "$scratch/tmp")"
same "no temporary file is left" "" "$(ls tmp)"

finish
