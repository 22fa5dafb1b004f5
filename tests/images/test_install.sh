#!/bin/bash
# make install and make uninstall: the installed tree works from another folder, as another user, with a space and a
# quote in its path, and needs neither the clone nor the build. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
clone=$(readlink -f "$(dirname "$0")/../..")
chmod 755 "$scratch" # for another user
prefix="$scratch/a place/that's new"
export LC_ALL=C

make_in_clone() {
    make -s --no-print-directory -C "$clone" B="$build" "$@"
}

list() { # what is below a folder, but folders
    (cd "$1" && find . ! -type d | sort)
}

mkdir -p "$prefix/bin" "$prefix/share/man" "$scratch/work"
echo mine >"$prefix/bin/other"
cd "$scratch/work" || exit 1
chmod 777 .

# ---- Refusals

status "a relative PREFIX" 2 make_in_clone install PREFIX=here
check "it is named" grep -q 'PREFIX=here' err
status "a build without anything" 1 "$clone/images/install.sh" /no/such/build "$prefix"
check "it says what to do" grep -q 'nothing is built in /no/such/build; run "make" first' err
status "nothing to remove" 2 make_in_clone uninstall "PREFIX=$prefix"
check "that is said" grep -q 'nothing is installed' err

# ---- Install, twice: files of the older installation are removed

status "install" 0 make_in_clone install "PREFIX=$prefix"
same "it is silent" "" "$(cat out err)"
list "$prefix" >first
echo old >"$prefix/lib/ncube/lib/old"
status "install again" 0 make_in_clone install "PREFIX=$prefix"
list "$prefix" >second
check "the same files" cmp first second
check "no link leads out of the tree" test -z "$(find "$prefix" -type l -lname '/*')"
check "readable for all" test -z "$(find "$prefix/lib" "$prefix/share" ! -type l ! -perm -444)"

# ---- Use: as another user where this one is root

cat >use.sh <<'END'
set -eu
PATH=$1/bin:/usr/bin:/bin
export HOME=/nonexistent TMPDIR=$2
cd "$2"
ncc -### -o hello "$1/lib/ncube/examples/hello.c" >ncc.words 2>&1
ncc -o hello "$1/lib/ncube/examples/hello.c"
ncube run -d 1 ./hello
NCUBE_NAME=installed-$$
export NCUBE_NAME
ncube boot -d 1 >up &
until [ -s up ]; do ncube ps >/dev/null || :; done
xnc -d 0 ./hello
ncube down
wait
END
as_user=
[ "$(id -u)" -eq 0 ] && as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
status "use" 0 timeout 60 $as_user sh use.sh "$prefix" "$scratch/work"
same "programs run" "hello from node 0 of 1 hello from node 0 of 2 hello from node 1 of 2" "$(sort out | xargs)"
same "nothing is said" "" "$(cat err)"
check "ncc takes nothing from the build" sh -c '! grep -F "$1/" ncc.words' - "$build"
check "ncc takes nothing from where newlib was built" sh -c '! grep -F "$1" ncc.words' - "$(cat "$build/newlib.path")"
check "a parallel file's library is there" "$prefix/bin/ncc" -o parallel -include pio.h \
    "$prefix/lib/ncube/examples/hello.c" -lpio -lcfs -lmpi -lcstar
status "a machine is found by its name" 0 "$prefix/bin/ncube" topo tiny
check "completion is there" bash -n "$prefix/share/bash-completion/completions/xnc"
status "a machine file is there" 0 "$prefix/bin/ncube" topo "$prefix/lib/ncube/examples/sandia.conf"

# The last three lines of ncube --help can be copied and run.
"$prefix/bin/ncube" --help | tail -n 3 | sed 's/^  \$ //' >lines
same "three lines" 3 "$(wc -l <lines)"
while IFS= read -r line; do
    status "$line" 0 timeout 60 sh -c "$line" </dev/null
    check "$line: it says something" test -s out
done <lines

# ---- Manual pages

for page in man1/ncube.1 man1/nar.1 man1/nranlib.1 man1/xnc.1 man1/ncc.1 man3n/nread.3n man3n/ntest.3n \
    man3n/pio_open_layout.3n \
    man5/ncube-machine.5; do
    check "$page" test -s "$prefix/share/man/$page"
done
for page in man3n/and.3n man3n/others.3n man5/ncube.5; do
    check "no $page" test ! -e "$prefix/share/man/$page"
done
same "another name of a page" ".so man3n/nread.3n" "$(cat "$prefix/share/man/man3n/ntest.3n")"
for header in "$build"/include/{pio,group,pattern,cstar,clf,cfs,rk}.h "$build"/include/n*.h; do # each call has a page
    for call in $(sed -nE 's/^[a-z].*[ *]([a-z][a-z_]*[a-z])\(.*/\1/p' "$header" |
        grep -E '^(pio|group|pattern|plan|falls|cs|clf|cfs|x|n|read|write|io|i)'); do
        check "a page for $call of ${header##*/}" test -s "$prefix/share/man/man3n/$call.3n"
    done
done
for call in Isend Wtime File_write_at_all_begin Neighbor_alltoallw Aint_add Attr_get; do
    same "a page for MPI_$call" ".so man3n/mpi.3n" "$(cat "$prefix/share/man/man3n/MPI_$call.3n")"
done
for command in ncube xnc; do # each option is in the page
    for long in $({ "$build/bin/$command" --help
        [ $command = xnc ] || for sub in run boot down ps top check topo route place disk; do
            "$build/bin/ncube" $sub --help
        done
    } | sed -nE 's/^  (-.,|   ) --([a-z-]+).*/\2/p' | sort -u); do
        check "$command.1 has --$long" grep -q -- "\\\\-\\\\-$long" "$prefix/share/man/man1/$command.1"
    done
done
check "the same pages in the build" diff -r "$build/man" "$prefix/share/man"
if command -v man >/dev/null; then # not among what make setup installs
    for name in nread "3n nread" ntest pio_write xnc "5 ncube-machine"; do
        status "man $name" 0 man -M "$prefix/share/man" $name
        check "man $name: it is that one" grep -q "${name##* }" out
    done
    for page in "$clone"/docs/man/man*/*; do # each name in a page's section NAME
        section=${page##*.}
        for name in $(sed -n '/^\.SH NAME/,/ \\- /p' "$page" | sed '1d;s/ \\- .*//;s/ and others//;s/[,\\]//g'); do
            check "man $section $name" sh -c 'man -M "$0" -w "$1" "$2" >/dev/null' "$prefix/share/man" \
                "$section" "$name"
        done
    done
    status "man in the clone" 0 man -M "$build/man" ntest
else
    skip "manual pages" "man is not installed"
fi

# ---- Uninstall, and DESTDIR

status "uninstall" 0 make_in_clone uninstall "PREFIX=$prefix"
same "what was there before stays, alone" "./bin/other" "$(list "$prefix")"
same "the folders that were there before stay, empty or not" ". ./bin ./share ./share/man" \
    "$(cd "$prefix" && find . -type d | sort | xargs)"
status "install below DESTDIR" 0 make_in_clone install PREFIX=/usr "DESTDIR=$scratch/package"
list "$scratch/package/usr" >third
check "the same files there" sh -c "grep -vx ./bin/other first | cmp - third"
check "it runs there" "$scratch/package/usr/bin/ncube" topo "$clone/images/sandia.conf" >/dev/null
status "uninstall below DESTDIR" 0 make_in_clone uninstall PREFIX=/usr "DESTDIR=$scratch/package"
check "nothing is left, no folder either" test ! -e "$scratch/package"

finish
