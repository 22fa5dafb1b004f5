#!/bin/bash
# ncube report and ncube run --report: the page of a slow ring and of a fast one, the same bytes whichever way it is
# made, what a browser makes of it, and what goes wrong. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

here=$(readlink -f "$(dirname "$0")")
build=$(readlink -f "$1")
ncube=$build/bin/ncube
ring=$build/examples/slow_ring
cd "$scratch" || exit 1

report() { "$ncube" report "$@"; }
run() { "$ncube" run "$@"; }
# What a page says, without its script, style and tags.
said() { sed -e '/<style>/,/<\/style>/d' -e '/<script/,/<\/script>/d' -e 's/<[^>]*>/ /g' "$1"; }
says() { said "$2" | tr -s ' \n' ' ' | grep -qE -- "$1"; }
data() { sed -n '/id="data"/,/<\/script>/p' "$1" | sed '1d;$d'; }
microseconds() { sed -n 's/.*nodes: \([0-9]*\) us/\1/p' "$1"; }

# ---- One page, three ways

status "a run with a trace and a report" 0 run -d 4 --trace=slow.json --report=run.html "$ring" halves
cp out slow.out
status "a report of the trace" 0 report slow.json
same "it says where it is" slow.html "$(cat out)"
check "the same page as the run's" cmp slow.html run.html
gzip -k slow.json
status "a report of a packed trace, to standard output" 0 report --out=- slow.json.gz
check "the same page" cmp out slow.html
status "a report without a trace" 0 run -d 4 --report=alone.html --sync=strict "$ring" halves
check "the same page again" cmp alone.html slow.html
status "a report of what took another way" 0 run -d 4 --report=fast.html "$ring" gray
check "slow is slower than gray" test "$(microseconds slow.out)" -gt "$(microseconds out)"

# ---- What the page says

check "it names the program" grep -q '<h1>Report of slow_ring halves</h1>' slow.html
check "it tells when the first node began, and when the last one" says \
    'ran for [0-9.]+ ms .* Its last node began [0-9.]+ .s later; what follows is of the [0-9.]+ .s from then on' \
    slow.html
check "it tells who shares a channel" says '[0-9]+ pairs of nodes share the channel from [0-9]+ to [0-9]+: ' slow.html
check "it tells how far a message goes" says 'crosses [2-9]\.[0-9] channels on average' slow.html
check "it tells what the path waited for" says 'message waits for a channel [0-9]{2} %' slow.html
check "of the fast ring it tells none of that" test -z "$(said fast.html | grep -E 'pairs of nodes|on average')"
check "its phase" says 'ring 16 16 ' slow.html
check "its machine" says 'compute nodes 16 ' slow.html
same "nothing from elsewhere" "" "$(grep -oE '(src|href)="[^#"]*"|url\(|@import|https?://[^ "]*' slow.html)"
python=$(command -v python3)
if [ -n "$python" ]; then
    data slow.html >data.json
    check "the data is JSON" "$python" -c 'import json; json.load(open("data.json"))'
    check "the path fills the program's time" "$python" -c '
import json
d = json.load(open("data.json"))
sum = sum(to - begin for node, begin, to, peer in d["path"])
assert sum == d["end"] - d["begin"], (sum, d["end"] - d["begin"])'
    check "each node's time is the program's, but for what it was not traced" "$python" -c '
import json
d = json.load(open("data.json"))
assert len(d["nodes"]) == 16
assert all(sum(t) == d["end"] - d["begin"] for t in d["time"]), [sum(t) for t in d["time"]]'
    check "nodes without a program have no row" "$python" -c '
import json
d = json.load(open("data.json"))
assert [r["node"] for r in d["rows"] if 0 <= r["node"] < 16384] == list(range(16)), d["rows"]
assert d["programs"] == [[d["programs"][0][0], 0, 0]], d["programs"]'
    check "what holds of the channels sum up to is in the channels' figures" "$python" -c '
import json
d = json.load(open("data.json"))
used = {(c[0], c[1]): c[2] for c in d["channels"]}
busiest = [tuple(c[:2]) for c in d["channels"][:d["hold_rows"]]]
assert d["hold_rows"] == 8 and d["hold_step"] == 0 and d["holds"]
seen = set()
for sender, receiver, times in d["holds"]:
    assert (sender, receiver) not in busiest and (sender, receiver) not in seen
    seen.add((sender, receiver))
    at = held = 0
    for i in range(0, len(times), 2):
        begin, at = at + times[i], at + times[i] + times[i + 1]
        held += max(0, min(at, d["end"]) - max(begin, d["begin"]))
    part = held / (d["end"] - d["begin"])
    assert abs(part - used.get((sender, receiver), 0)) < 1e-4, (sender, receiver, part)
assert set(used) == seen & set(used) | set(busiest)'
    check "the matrix has all messages" "$python" -c '
import json, re
d = json.load(open("data.json"))
total = int(re.search(r"that time (\d+) messages", open("slow.html").read()).group(1))
assert sum(c[3] for c in d["matrix"]["cells"]) == total'
else
    skip "the page's data" "python3 is not installed"
fi

check "that it ended well" says 'The run ended with status 0' slow.html

# ---- Lines of the program

cat >lines.c <<'EOF'
#include <nself.h>
static void give(int me, char *bytes)
{
    nwrite(bytes, 100, me ^ 1, 5, 0);
}
static int take(char *bytes)
{
    int from = -1, type = 5;
    return nread(bytes, 100, &from, &type, 0);
}
int main(void)
{
    int me, process, host, dim;
    volatile char bytes[100];
    whoami(&me, &process, &host, &dim);
    for (int i = 0; i < 5; i++) {
        give(me, (char *)bytes);
        take((char *)bytes);
    }
    return 0;
}
EOF
places() { # PAGE: each node's lines, one after the other
    data "$1" | "$python" -c '
import json, sys
d = json.load(sys.stdin)
assert d["line_step"] == 0
for node, times in d["places"]:
    assert all(step > 0 for step in times[2::2]), times
    print(node, *[d["lines"][i] for i in times[1::2]], sep="|")'
}
own() { printf '%s' 'whoami, called in main (lines.c:15)'
    for ((i = 0; i < 5; i++)); do
        printf '%s' '|nwrite, called in give (lines.c:4)|nread, called in take (lines.c:9)'
    done; }
for optimized in -O0 -O1; do
    "$build/bin/ncc" -g $optimized -fno-inline -o lines lines.c
    status "a run with lines, $optimized" 0 run -d 2 --report=lines.html --trace=lines.json ./lines
    [ -z "$python" ] || same "$optimized: each node's lines, in their order" \
        "$(for n in 0 1 2 3; do echo "$n|$(own)"; done)" "$(places lines.html)"
done
status "the page of the trace" 0 report --out=again.html lines.json
check "has them, too" cmp again.html lines.html
status "a trace with lines" 0 run -d 2 --trace=more.json --trace-lines --sync=strict ./lines
check "is that of a run with a report" cmp more.json lines.json
status "a trace without" 0 run -d 2 --trace=less.json ./lines
sed -E 's/,"args":\{"line":"[^"]*"\}//' lines.json >no_lines.json
check "is the same but for them" cmp no_lines.json less.json
"$build/bin/ncc" -o unnamed lines.c
status "a program without -g" 0 run -d 1 --report=unnamed.html ./unnamed
check "has functions" grep -qF '"lines":["whoami, called in main",' unnamed.html

# ---- Waits for file servers

"$ncube" disk create df00.img 8M
cat >drive.conf <<END
dim = 2;
boards = ( { number = 0; io_nodes = ( { index = 0; drives = ( { volume = "df00"; image = "df00.img"; } ); } ); } );
END
bench() { run -d 2 -m drive.conf "$@" volumes=df00 bytes=65536 B=4096 C=1; }
status "a PIO file is written" 0 bench "$build/examples/piobench" write 1
status "a report of pio_read" 0 bench --report=pio.html "$build/examples/piobench" read 1
check "it waits for a file server" says 'mostly in the state "waits for a file server"' pio.html
check "not for a type of message" test -z "$(said pio.html | grep -E '32931|message of type')"
if [ -n "$python" ]; then
    data pio.html >pio.json
    check "nearly all of the time, and in no call for another message" "$python" -c '
import json
d = json.load(open("pio.json"))
time = dict(zip(d["states"], d["time"][d["nodes"].index(1)]))
assert time["waits for a file server"] > (d["end"] - d["begin"]) / 2, time
assert time["waits for a message"] == 0, time'
fi

# ---- Parts

status "a window" 0 run -d 2 --report=part.html --trace-from=45ms --trace-nodes=0-1 "$ring"
check "the page says so" says 'traced nodes 0-1 traced from 0.045000 s' part.html
status "no program in the window" 0 run -d 2 --report=none.html --trace-to=1ms "$ring"
check "there is a page all the same" grep -q '</html>' none.html
status "a trace that reaches its limit" 0 run -d 4 --report=limit.html --trace-limit=100K "$ring"
check "the page says so" says 'The trace reached its limit' limit.html
printf 'int main(void) { return 0; }' >nothing.c
"$build/bin/ncc" -o "a<b&c" nothing.c
cp "a<b&c" nothing
status "two programs" 0 run --report=two.html -d 0 ./nothing '|' -d 1 ./nothing
check "the page knows whose nodes they are" \
    grep -qE '"programs":\[\["nothing",[0-9]+,1\],\["nothing",[0-9]+,2\]\],' two.html
status "a name that is HTML" 0 run --report=name.html "./a<b&c" '</script><b>'
check "it is quoted" grep -qF '<h1>Report of a&lt;b&amp;c &lt;/script&gt;&lt;b&gt;</h1>' name.html
same "the script's end" 2 "$(grep -c '</script>' name.html)"
cat >stuck.c <<'EOF'
#include <nself.h>
int main(void)
{
    int from = 0, type = 5;
    char c;
    nread(&c, 1, &from, &type, 0);
    return 0;
}
EOF
"$build/bin/ncc" -o stuck stuck.c
status "a deadlock" 125 run -d 1 --report=stuck.html --trace=stuck.json ./stuck
check "the page says so first" \
    says '^ ?(Report of stuck ){2}The run failed: deadlock at [0-9.]+ s: nothing more can happen' stuck.html
check "and who waits" says 'nodes 0-1: each waits in nread for a message of type 5 from node 0' stuck.html
check "all nodes wait until then" says 'on 2 nodes, until the run failed' stuck.html
check "they have waited" says 'waited for [1-9][0-9.]* %, mostly in the state "waits for a message"' stuck.html
status "the page of its trace" 0 report --out=again.html stuck.json
check "is the same" cmp stuck.html again.html
status "a limit of the trace leaves room for the end" 125 \
    run -d 1 --report=room.html --trace-limit=64K --trace-to=1ms ./stuck
check "the page says so" says 'The run failed: deadlock' room.html

cat >fails.c <<'EOF'
#include <nself.h>
int main(int argc, char **argv)
{
    int me, process, host, dim;
    (void)argv;
    whoami(&me, &process, &host, &dim);
    while (argc == 1)
        ;
    if (me == 1 && argc == 3)
        *(volatile char *)16 = 0;
    return me == 1 ? 7 : 0;
}
EOF
"$build/bin/ncc" -g -O0 -o fails fails.c
status "a fault" 1 run -d 2 --report=fault.html ./fails a b
check "the page says so first" says 'The run failed: node 1 .*in main .fails.c:10.' fault.html
check "the node's last line is that of the fault" grep -qE '"lines":\[.*"main \(fails.c:10\)"\]' fault.html
status "a status" 7 run -d 1 --report=status.html ./fails a
check "the page says so first" \
    says 'The run failed: the program has ended with status 7; first failure: node 1 has' status.html
status "a limit" 124 run -d 1 --limit=0.05 --report=reached.html ./fails
check "the page says so first" says 'The run failed: the limit of 0.050000 s of virtual time is reached' reached.html
"$ncube" run -d 1 --heartbeat=0.2 --report=term.html ./fails 2>beats &
pid=$!
until [ -s beats ]; do read -rt 0.1 <> <(:); done
kill -TERM "$pid"
wait "$pid"
same "SIGTERM: status" 143 "$?"
check "the page says so first" says 'The run failed: ended by the signal SIGTERM' term.html

# ---- What goes wrong

refused() { # NAME STATUS TEXT WORD...: one line that has TEXT, and no page
    local name=$1 expected=$2 text=$3
    shift 3
    rm -f no.html
    status "$name" "$expected" "$@"
    same "$name: one line" 1 "$(wc -l <err)"
    check "$name: it says '$text'" grep -qF -- "$text" err
    check "$name: no page" test ! -e no.html
}

head -c 20000 slow.json >cut.json
head -n 100 slow.json >lines.json
head -c 4000 slow.json.gz >cut.json.gz
sed '1s/"ncube_trace":1/"ncube_trace":9/' slow.json >version.json
sed '50s/ph/hp/' slow.json >bad.json
: >empty.json
echo hello >text.json
refused "a trace cut in a line" 1 "cut.json: the timeline ends in the middle of line" report --out=no.html cut.json
refused "a trace cut after a line" 1 "lines.json: the timeline ends after line 100" report --out=no.html lines.json
refused "a compressed trace cut" 1 "cut.json.gz: the compressed file ends too early" report --out=no.html cut.json.gz
refused "another version" 1 "version.json: this is a timeline of version 9" report --out=no.html version.json
refused "a bad line" 1 "bad.json: line 50 is not an event of ncube's: '{\"hp\"" report --out=no.html bad.json
refused "an empty file" 1 "empty.json: the file is empty" report --out=no.html empty.json
refused "text" 1 "text.json: this is not a timeline of ncube" report --out=no.html text.json
refused "a page" 1 "slow.html: this is not a timeline of ncube" report --out=no.html slow.html
refused "no file" 1 "no.json: No such file" report --out=no.html no.json
refused "a folder" 1 ".: Is a directory" report --out=no.html .
refused "no trace" 2 "no trace given" report
refused "two traces" 2 "unexpected word 'b'" report a b
refused "its own trace" 1 "slow.json: this is the trace" report --out=slow.json slow.json
refused "no folder" 1 "none/no.html: No such file" report --out=none/no.html slow.json
refused "a full disk" 1 "/dev/full: No space left" report --out=/dev/full slow.json
refused "a trace in text" 2 "a report needs a trace in JSON" run --report=no.html --trace=x.txt "$ring"
refused "the trace as report" 1 "this is the trace" run --report=no.json --trace=no.json "$ring"
rm -f no.json
refused "the statistics as report" 1 "--stats writes this file, too" run --report=no.html --stats=no.html "$ring"
refused "the program as report" 2 "is a program, not a name for the page" run --report="$ring" "$ring"
refused "lines in a trace in text" 2 "--trace-lines needs a timeline" run --trace=no.html --trace-lines "$ring"
refused "lines without a trace" 2 "--trace-lines without a trace" run --trace-lines "$ring"
refused "no name" 2 "report: give a file's name" run --report= "$ring"
status "a full disk, in a run" 1 run --report=/dev/full "$ring"
check "it says so" grep -qF '/dev/full: No space left' err
(
    trap '' XFSZ
    ulimit -f 40
    "$ncube" report --out=no.html slow.json 2>err
    echo $? >code
)
same "a file that gets too large: status" 1 "$(cat code)"
check "it says so" grep -qF 'no.html: File too large' err
same "nothing is left" "" "$(ls no.html* 2>/dev/null)"

# ---- In a browser

if command -v chromium >/dev/null; then
    look() { # PAGE: the page after its script has run; errors go to err
        timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" \
            --enable-logging=stderr --v=0 --dump-dom "file://$scratch/$1" 2>err >dom
    }
    for page in $(drawn_of 2 slow.html fast.html none.html limit.html name.html stuck.html part.html); do
        look $page
        same "$page: errors of the script" "" "$(grep -E 'CONSOLE.*(rror|Uncaught)' err)"
        check "$page: the timeline is drawn" grep -qE 'id="shown">[0-9]' dom
        check "$page: the player says the time" grep -qE 'id="now">[0-9]' dom
        check "$page: it holds all" test -z "$(grep -oE 'id="joined">[^<]+' dom)"
    done
    sed 's/"hold_step":0,/"hold_step":2048,/' slow.html >joined.html
    look joined.html
    check "the player says what the page does not hold" \
        grep -qF 'id="joined"> The run has more than this page can hold: of what is shorter than 102.4' dom
else
    skip "what a browser makes of the page" "chromium is not installed"
fi
if [ -n "$python" ] && command -v chromium >/dev/null; then
    play() { # PAGE [END]
        "$python" "$here/report_player.py" "$1" "$scratch/player" "${@:2}" >out 2>err && return
        cat out err >&2
        return 1
    }
    echo 'dim = 7;' >seven.conf
    status "a run on 4 nodes of 128" 0 run -m seven.conf -d 2 --report=cells.html "$ring"
    status "a run of 64 nodes" 0 run -d 6 --report=high.html "$ring"
    # on a cube; with a timeline that is higher than its frame; on a grid of cells
    for page in $(drawn_of 3 slow.html high.html cells.html); do
        check "the player: keys, drags, touch, colours of $page" play $page
    done
    n=0
    while IFS='|' read -r page end; do
        ! drawn $((n++)) 2 || check "the player: the end of $page" play $page "$end"
    done <<'END'
fast.html|The run ended with status 0.
stuck.html|The run failed: deadlock at 
fault.html|The run failed: node 1 
status.html|The run failed: the program has ended with status 7
reached.html|The run failed: the limit of 0.05
END
else
    skip "the player of the page" "chromium or python3 is not installed"
fi
finish
