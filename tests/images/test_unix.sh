#!/bin/bash
# Unix programs that know nothing of this machine, from Debian's source packages, without a change [P1 section 1.1]: ncc
# builds them, a node runs them, and what they print and write is what the same sources do on the host. BUILD is the
# argument. Sources are fetched once, by apt-get, into the cache beside newlib (images/newlib/build.sh); where no
# machine is reached, the programs are skipped.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncc="$build/bin/ncc -O0 -w"
cache=${NCUBE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ncube}/unix-sources
export LC_ALL=C
cd "$scratch" || exit 1

# ---- Sources

# Writes a list of Debian's sources, of the archive that this machine takes its packages from.
list_sources() {
    local uri suite
    read -r uri suite < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Label: Debian' 'Component: main' \
        'Created-By: Packages' 2>/dev/null)
    [ -n "${suite:-}" ] && echo "deb-src $uri $suite main" >sources.list
}

fetch() { # PACKAGE...: their original sources, as apt-get checks them, to the cache
    local options="-qq -o Dir::Etc::SourceList=$PWD/sources.list -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists=$PWD/lists -o Dir::Cache=$PWD/apt -o APT::Sandbox::User=
        -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10"
    command -v apt-get >/dev/null && list_sources || return
    mkdir -p lists/partial apt/archives/partial "$cache"
    apt-get $options update >log 2>&1 && (cd "$cache" && apt-get $options source --download-only "$@") >>log 2>&1
}

unpack() { # PACKAGE: to the folder PACKAGE
    local archive
    archive=$(ls "$cache/$1"_*.orig.tar.* 2>/dev/null | tail -n 1)
    [ -n "$archive" ] && mkdir "$1" && tar -xf "$archive" -C "$1" --strip-components=1
}

packages="ed bc lua5.4 original-awk dash"
for package in $packages; do
    ls "$cache/$package"_*.orig.tar.* >/dev/null 2>&1 || { fetch $packages; break; }
done

tried=$(drawn_of 2 $packages)
taken() { [[ " $tried" == *" $1 "* ]]; } # PACKAGE

# On the host, only what they do matters.
host_compiler="cc -O0 -w"

# ---- Runs

# A program on the host and on a node, in folders of equal content: output, status, and what they leave. Both are called
# node/PROGRAM, as programs print their names.
compare() { # NAME PROGRAM INPUT ARGUMENT...: host/PROGRAM and node/PROGRAM
    local name=$1 program=$2 input=$3
    shift 3
    rm -rf on-host on-node && cp -R files on-host && cp -R files on-node
    (cd on-host && timeout 60 bash -c 'exec -a "node/$0" "../host/$0" "$@"' \
        "$program" "$@" <"$input" >../host.out 2>&1)
    echo "status $?" >>host.out
    timeout 120 "$build/bin/ncube" run --serve on-node "node/$program" "$@" <"on-node/$input" >node.out 2>&1
    echo "status $?" >>node.out
    check "$name: output as on the host" cmp host.out node.out
    check "$name: files as on the host" diff -r on-host on-node
}

both() { # PROGRAM FOLDER FLAGS FILE...: compiles host/PROGRAM and node/PROGRAM in the folder
    local program=$1 folder=$2 flags=$3
    shift 3
    check "$program is built for the host" eval \
        "(cd $folder && $host_compiler $flags -o $scratch/host/$program $* -lm) 2>log"
    check "$program is built for a node" eval \
        "(cd $folder && $ncc $flags -o $scratch/node/$program $* -lm) 2>log"
}

without_source() {
    skip "$1" "its source is not in $cache, and apt-get does not reach any"
}

mkdir host node files
seq 1 400 | awk '{ print $1 % 7, $1 * $1 % 101, "name" $1 % 13 }' >files/table
printf 'pack my box\nwith five dozen\nliquor jugs\n' >files/text

# ---- The programs

if ! taken ed; then
    :
elif unpack ed; then
    both ed ed '-DPROGVERSION=\"1\"' '*.c'
    cat >files/script <<'END'
a
first
second line
third
.
2,3s/\([a-z]*\)i/<\1>/g
1t$
g/r/s/$/!/
,n
/second/,$w part
r text
$-1m0
,l
u
1,2j
w whole
=
nonsense
q
END
    compare "ed edits" ed script -s
    printf 'g/o/p\nv/o/d\nw text\nq\n' >files/script
    compare "ed searches a file and shortens it" ed script text
else
    without_source ed
fi

if ! taken lua5.4; then
    :
elif unpack lua5.4; then
    both lua lua5.4/src -std=gnu99 '$(ls l*.c | grep -v luac)'
    cat >files/program.lua <<'END'
local count, names = 0, {}
for line in io.lines("table") do
    local a, b, name = line:match("(%d+) (%d+) (%a+%d+)")
    names[name] = (names[name] or 0) + a * b
    count = count + 1
end
local sorted = {}
for name, sum in pairs(names) do sorted[#sorted + 1] = name end
table.sort(sorted)
for _, name in ipairs(sorted) do print(name, names[name], string.format("%.3f", names[name] / count)) end
local out = assert(io.open("out", "w"))
for i = 1, 1000 do out:write(i, " ", i * i // 7, " ", math.sqrt(i), "\n") end
out:close()
print(select("#", ("a,b,,c"):gsub(",", ";")), #string.rep("x", 10000), 7 // 2, -7 % 3, 2 ^ 53, 1e15, 0x7fffffffffffffff)
print(pcall(error, { code = 1 }), tostring(nil), math.type(3), string.pack(">I4", 77):byte(1, -1))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(co(), co(), co(), os.rename("out", "renamed"), io.open("out"))
for line in io.stdin:lines() do io.write(line:reverse(), "\n") end
os.exit(7)
END
    compare "Lua runs a program" lua text program.lua
else
    without_source Lua
fi

# bc makes its library of functions with a first bc.
if ! taken bc; then
    :
elif unpack bc; then
    bc_files='main.c bc.c scan.c execute.c load.c storage.c util.c warranty.c'
    number='../lib/number.c ../lib/getopt.c ../lib/getopt1.c'
    check "bc is configured" eval "(cd bc && CC=cc ./configure --without-readline) >log 2>&1"
    for where in host node; do
        echo '{0}' >bc/bc/libmath.h
        compiler=$host_compiler
        first="./first-bc"
        [ $where = host ] || compiler=$ncc first="$build/bin/ncube run --serve . ./first-bc"
        compiler="$compiler -funsigned-char -DHAVE_CONFIG_H -I.. -I../h"
        check "a first bc is built for the $where" eval "(cd bc/bc && rm -f first-bc *.o &&
            $compiler -c $bc_files global.c $number && $compiler -o first-bc *.o) 2>log"
        check "which compiles the library" eval "(cd bc/bc && $first -c libmath.b </dev/null) >libmath.$where 2>log"
        # as fix-libmath_h does, for compilers that do not take a long string
        sed -e '1s/^/{"/; s/$/",/; 2,$s/^/"/; $s/,$//; $a,0}' libmath.$where >bc/bc/libmath.h
        check "bc is built for the $where" eval "(cd bc/bc && $compiler -c global.c &&
            $compiler -o $scratch/$where/bc *.o) 2>log"
        check "dc is built for the $where" eval "(cd bc/dc && $compiler -o $scratch/$where/dc *.c \
            ../bc/number.o ../bc/getopt.o ../bc/getopt1.o) 2>log"
    done
    check "both made the same library" cmp libmath.host libmath.node
    cat >files/sums <<'END'
scale = 40
4 * a(1)
e(1); l(2); s(1); c(1); j(0, 1)
2 ^ 200 % 1000007
define f(n) { if (n < 2) return (1); return (n * f(n - 1)); }
f(50)
for (i = 1; i <= 20; ++i) sqrt(i)
obase = 16; 123456789; ibase = 16; FF
1 / 0
quit
END
    compare "bc computes" bc sums -l
    printf '20k 2v p 16o 255p 10o 2 100^ p [la1+dsa10>x]sx 0sa lxx la p q\n' >files/stack
    compare "dc computes" dc stack
else
    without_source "bc and dc"
fi

if ! taken dash; then
    :
elif unpack dash; then
    cp /bin/dash host/ # which Debian has on every host
    check "dash is built for a node" eval "(cd dash && CC_FOR_BUILD=cc CC='$ncc' \
        ./configure --host=riscv64-unknown-elf && make && cp src/dash ../node/) >log 2>&1"
    cat >files/script.sh <<'END'
greet() { echo "hello $1"; }
for i in 1 2 3; do greet $i; done
x=$((6 * 7)); echo $x ${x%2} ${#x} ${none:-default}
case $x in 4*) echo four ;; *) echo other ;; esac
while read -r a b; do echo "$b-$a"; done <text
copy() { while IFS= read -r line; do printf '%s\n' "$line"; done; }
echo to a file >out && copy <out >>copied
copy <table | { n=0; while read -r a b c; do n=$((n + b)); done; echo "sum $n"; }
y=$(echo inner; echo more); echo "$y" | copy
(exit 3); echo $?
./none; echo "status $?"
test -f text && echo file; [ -d none ] || echo no
true & wait $!; echo "waited $?"
copy <text >/dev/null; echo text >/dev/full || echo full
set -- a 'b c' d; shift; echo $# "$@"; echo *.sh te*
trap 'echo usr1' USR1; kill -USR1 $$; trap 'echo bye' EXIT
copy <<HERE
here $x
HERE
exit 5
END
    compare "dash runs a script" dash script.sh script.sh
    compare "dash reads its commands" dash script.sh
    cp "$build/examples/hello" on-node/
    same "dash runs programs, and a pipeline of them" "<hello from node 0 of 1> 0" \
        "$("$build/bin/ncube" run --serve on-node node/dash -c \
            './hello >/dev/null && ./hello | { read x; echo "<$x> $?"; }')"
    mke2fs -q -t ext2 -F df00.img 1M
    cat >volume.conf <<'END'
dim = 1;
front_end = { si = 0; };
boards = ( { number = 3; io_nodes = (
    { index = 0; si = [1]; drives = ( { volume = "df00"; image = "df00.img"; } ); } ); } );
END
    same "dash names a volume with one slash" "a b" "$("$build/bin/ncube" run -n 1 -m volume.conf --serve on-node \
        node/dash -c 'cd /df00/ && echo a >/df00/x && echo b >>x && read a </df00/x && { read _; read b; } <//df00/x
            echo $a $b')"
else
    without_source dash
fi

yacc=$(command -v bison || command -v byacc || command -v yacc)
if [ -z "$yacc" ]; then
    skip "original-awk" "there is no bison"
elif unpack original-awk; then
    check "awk's grammar is compiled" eval "(cd original-awk && $yacc -d -b awkgram awkgram.y &&
        cc -w -o maketab maketab.c && ./maketab awkgram.tab.h >proctab.c) >log 2>&1"
    both awk original-awk '' awkgram.tab.c b.c main.c parse.c proctab.c tran.c lib.c run.c lex.c
    cat >files/program.awk <<'END'
{ sum[$3] += $1 * $2; n[$3]++; if ($2 > best) { best = $2; line = $0 } }
/name1[0-2]/ { tens++ }
END {
    for (i = 0; i < 13; i++) printf "%-8s %6d %8.3f\n", "name" i, sum["name" i], sum["name" i] / n["name" i]
    print best, line, tens, length(line), toupper(line), index(line, "name")
    while ((getline text < "text") > 0) { gsub(/[aeiou]/, "<&>", text); print NR, text >"vowels" }
    print match("foobar", /o+/), RSTART, RLENGTH, substr("hello", 2, 3), split("a:b:c", part, ":"), part[3]
    print exp(1), log(10), sqrt(2), int(-3.7), 2 ** 10, 1e6, 0.1 + 0.2
    exit 3
}
END
    compare "awk counts" awk text -f program.awk table
    compare "awk reads its input" awk text '{ print NF, $NF }'
else
    without_source "original-awk"
fi

finish
