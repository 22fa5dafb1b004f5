#!/bin/bash
# Programs that fork, wait, exec and read pipes (tests/images/processes) do on a node what the same sources do on the
# host: output, status, files. BUILD is the argument.
set -u
sources=$(readlink -f "$(dirname "$0")/processes")
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
export LC_ALL=C
cd "$scratch" || exit 1
mkdir host node

for source in "$sources"/*.c; do
    name=$(basename "$source" .c)
    check "$name is built for the host" cc -std=gnu11 -w -o "host/$name" "$source"
    check "$name is built for a node" "$build/bin/ncc" -std=gnu11 -w -o "node/$name" "$source"
done

# In folders that have nothing but the programs. The reader of the output waits for all processes.
compare() { # NAME INPUT
    mkdir -p run/host run/node
    cp host/* run/host && cp node/* run/node
    { (cd run/host && timeout 60 "./$1" 2>&1; echo "status $?") <"$2" | cat; } >host.out
    { timeout 120 "$build/bin/ncube" run --serve run/node "run/node/$1" 2>&1 <"$2"; echo "status $?"; } >node.out
    check "$1: as on the host" diff host.out node.out
    (cd host && ls) | while read -r program; do rm "run/host/$program" "run/node/$program"; done
    check "$1: files as on the host" diff -r run/host run/node
    rm -r run
}

cat "$sources/commands" - >input <<'INPUT'
the rest is for the last
command of the shell
INPUT
compare shell input
for name in statuses handshake offsets sieve selects streams; do
    compare $name /dev/null
done

# The parent's status is the program's; what its child prints later comes, too.
timeout 120 "$build/bin/ncube" run node/orphans >node.out 2>&1
same "orphans: status" 3 $?
host/orphans | cat >host.out
check "orphans: as on the host" diff host.out node.out

finish
