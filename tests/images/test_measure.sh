#!/bin/bash
# What runs.py, page.py and measure.py do with tables: runs are kept and shared, an interrupted study goes on, and what
# is wrong gets one line. A script plays ncube: it notes each call. BUILD is the argument, for its newlib.
set -u
. "$(dirname "$0")/../shell.sh"

clone=$(readlink -f "$(dirname "$0")/../..")
cd "$scratch" || exit 1
mkdir -p build/bin build/lib build/guest images docs
touch build/lib/plugin.so build/lib/vertex.elf build/lib/nsdisk.elf
echo one >build/guest/one
echo two >build/guest/two
cat >build/bin/ncube <<'END'
#!/bin/bash
echo "$*" >>"$CALLS"
case "$*" in
*one*slow*) [ -e "$CALLS.quick" ] || exec sleep 60 ;;
*one*fails*) echo "a word" >&2; echo "it broke" >&2; exit 3 ;;
"disk create"*) for word; do case $word in --images=*) touch "${word#*=}/df00.img" ;; esac; done ;;
esac
echo "node=0 us=12.5 name=x"
echo "rate: 7 MB/s"
END
chmod +x build/bin/ncube
export CALLS=$scratch/calls

# table NAME LINE...: a table's file, whose main gets a Lab
table() {
    local name=$1
    shift
    printf '%s\n' "from page import *" "from runs import *" "def main(lab):" "    one = lab.guest('one')" "$@" \
        >"$name.py"
}

cat >run.py <<'END'
import importlib, os, sys
sys.path[:0] = [sys.argv[1], os.getcwd()]
import measure
from runs import Lab
lab = Lab("build", "kept")
try:
    print(importlib.import_module(sys.argv[2]).main(lab))
except Exception as error:
    measure.complain("study", error)
    sys.exit(1)
finally:
    lab.end()
END

study() { # NAME
    python3 -B run.py "$clone/images/measure" "$1"
}

calls() { # of ncube since the last time
    sort calls 2>/dev/null | wc -l
    : >calls
}

# ---- Runs are kept

table value "    run = lab.run('-d', 1, one, 'a')" \
    "    return run.value('us='), run.word('rate:'), run.lines[0]['name']"
status "a run" 0 study value
same "what it printed" "(12.5, '7', 'x')" "$(cat out)"
same "it ran" 1 "$(calls)"
status "the same again" 0 study value
same "the same again: not run, the same text" "0 (12.5, '7', 'x')" "$(calls) $(cat out)"
for changed in build/guest/one build/lib/vertex.elf build/bin/ncube; do
    echo "# changed" >>$changed
    study value >out
    same "another $changed: run again" 1 "$(calls)"
done
echo changed >>build/guest/two
study value >out
same "another program: not run again" 0 "$(calls)"
table machines "    return [lab.run(one, machine='dim = %d;' % d).value('us=') for d in (1, 2, 1)]"
status "machine files" 0 study machines
same "a run for each machine file" 2 "$(calls)"
sed -i 's/(1, 2, 1)/(1, 3, 1)/' machines.py
study machines >out
same "one machine file is another one: one run" 1 "$(calls)"

table shared "    return each(lambda i: lab.run(one, 'shared').word('rate:'), range(8))"
status "eight rows that need the same run" 0 study shared
same "it runs once" 1 "$(calls)"
table wide "    return each(lambda i: lab.run(one, 'wide', i).word('rate:'), range(4))"
study wide >out
same "four rows with words of their own: four runs" 4 "$(calls)"

# A run that begins with what another one left on its drives
table chain "    def wrote(n): return lab.run(one, 'write', n, machine='', images=Images('32M'), keep_images=True)" \
    "    return each(lambda n: lab.run(one, 'read', machine='', images=wrote(1)).word('rate:'), range(3))" \
    "def again(lab):" \
    "    wrote = lab.run(lab.guest('one'), 'write', 1, machine='', images=Images('32M'), keep_images=True)" \
    "    return lab.run(lab.guest('one'), 'check', machine='', images=wrote).word('rate:')"
status "a chain of runs" 0 study chain
same "it made images, wrote once and read once" "1 create 1 read 1 write" \
    "$(grep -o 'create\| write\| read' calls | tr -d ' ' | sort | uniq -c | xargs)"
same "no image is left" "" "$(ls -d kept/*/images 2>/dev/null)"
calls >out
sed -i 's/^def main/def first/; s/^def again/def main/' chain.py
study chain >out
same "images that are gone are written again" "1 check 1 write" \
    "$(grep -o ' check\| write' calls | tr -d ' ' | sort | uniq -c | xargs)"
calls >out

# ---- An interrupted study goes on

table long "    return lab.run(one, 'first').word('rate:') + lab.run(one, 'slow').word('rate:')"
python3 -B run.py "$clone/images/measure" long >out 2>err &
pid=$!
until grep -q slow calls; do
    kill -0 $pid || break
    read -rt 0.05 <> <(:) || :
done
kill -TERM $pid
wait $pid
same "a signal: status" 143 $?
same "its runs have ended" "" "$(ls -l /proc/[0-9]*/cwd 2>/dev/null | grep "$scratch/kept")"
same "no half result" "" "$(ls kept | grep new)"
same "two runs began" 2 "$(calls)"
touch calls.quick
status "the study again" 0 study long
same "it goes on: one run" "1 77" "$(calls) $(cat out)"
mkdir kept/new.999999999.1
study long >out
touch -d '15 days ago' kept/*
study value >out
same "a run that was not asked for in 14 days is removed, and run again" "1 1" "$(calls) $(ls kept | wc -l)"
same "what a killed study left is removed" "" "$(ls kept | grep new)"

# ---- Tables and bounds

table rows "    return table('n | | twice', lambda n: [str(n), passes(n, '>=', 2), '%d' % (2 * n)], [1, 2])"
status "a table" 0 study rows
same "a bound that is missed is a cell" "| n | | twice |
| --- | --- | --- |
| 1 | no | 2 |
| 2 | yes | 4 |" "$(cat out)"

# ---- What goes wrong

wrong() { # NAME LINE
    status "$1" 1 study "$1"
    same "$1: one line" "$2" "$(cat err)"
}
table failing "    return lab.run('-d', 1, one, 'fails').text"
wrong failing "study: ncube run --cores=1 -d 1 build/guest/one fails: it broke"
same "a failure is not kept" 1 "$(calls)"
study failing >out 2>err
same "a failure is not kept: run again" 1 "$(calls)"
table nameless "    return lab.run(one).value('mb_s=')"
wrong nameless "study: no number behind 'mb_s=' in what this printed: ncube run --cores=1 build/guest/one"
table mistaken "    a = 1" "    return each(lambda x: x + rows, [1])"
wrong mistaken "study: mistaken.py:6: NameError: name 'rows' is not defined"
table worded "    return lab.run(one)" "  this is no table"
wrong worded "study: worded.py:6: unindent does not match any outer indentation level"

# ---- Pages

page() { # TEXT: its blocks are AAA, and the page is printed
    printf "$1" >docs/page.md
    python3 -B - "$clone/images/measure" <<'END'
import sys
sys.path[:0] = [sys.argv[1]]
import page, runs
try:
    sys.stdout.write(page.renewed("docs/page.md", {"a": "AAA"}.__getitem__))
except runs.Failure as error:
    sys.exit(str(error))
END
}
begin="<!-- figures:"
end="<!-- figures end -->"
status "a page" 0 page "x\n$begin a -->\nold\n$end\ny\n"
same "its block is new" "x|$begin a -->|AAA|$end|y" "$(paste -sd '|' out)"
status "a block without a measurement" 1 page "x\n$begin b -->\n$end\n"
same "it is named with its line" "docs/page.md:2: there is no block 'b'" "$(cat err)"
status "a block without an end" 1 page "x\ny\n$begin a -->\nold\n"
same "it is named with its line" "docs/page.md:3: block 'a' has no end" "$(cat err)"

# ---- The model of the Concurrent File System

model() { # EXPRESSION
    PYTHONPATH=$clone/images/measure python3 -B -c "from cfs_model import *; print(${1:+$1}${2:+, $2})"
}
same "one node has all of the file: parts or interleaved, each block once" "True 1.00" \
    "$(model 'read_rate("part", 1) == read_rate("inter", 1), end=" "); print("%.2f" % read_rate("part", 1)[1]')"
same "64 streams do not fit into the caches, 16 do, and 64 do in caches of 5 MB" "True True True" \
    "$(model '*(read_rate("part", *n)[1] < 1.2 for n in [(16,), (64, 1 << 25, 65536, 10, 1250)])' \
        'read_rate("part", 64)[1] > 8')"

finish
