#!/bin/sh
# The demonstration: copies a file of the host into a PIO file on eight volumes and back, checks the images on the host
# by e2fsprogs, and measures the rates of parallel and plain file I/O, in virtual time.
#
#   demo.sh BUILD [FILE]     BUILD: where everything was built; FILE: what to copy, default newlib's libc.a
#
# For node 3 and then node 2 of sandia.conf, each on fresh images in BUILD/demo:
#
#   copied     piocopy: front end -> PIO file on that node, PIO file against front end on the other
#   checked    e2fsck -fn on the eight images
#   restored   the eight subfiles, taken out by debugfs, put together by the striping rule: the SHA-256 is FILE's
#   measured   piobench, writing and reading in two runs, so that no nsdisk remembers what it wrote
#
# Then one table, by demo_table.awk. Exit status 0 if all steps succeeded; otherwise one line names the failed step.
# Changes only BUILD/demo, which stays until the next run.
set -eu

here=$(dirname "$0")
build=$1
file=${2:-}
machine=$here/sandia.conf
work=$build/demo
dim=5
volumes="df00 df01 df02 df03 df04 df05 df06 df07"
PATH=$PATH:/usr/sbin:/sbin # mke2fs and its kin, where users do not have them
export LC_ALL=C # names in the order of their bytes, and numbers with a point

die() {
    echo "demo: $*" >&2
    exit 1
}

# step WHAT COMMAND...: its output goes to $work/log; if it fails, it is shown.
step() {
    what=$1
    shift
    "$@" >"$work/log" 2>&1 && return
    status=$?
    cat "$work/log" >&2
    die "$what failed with status $status: $*"
}

# ---- Images ----------------------------------------------------------------------------------------

# The same bytes every time: fixed time, UUID and hash seed.
make_images() {
    for volume in $volumes; do
        id=00000000-0000-4000-8000-0000000000${volume#df}
        rm -f "$work/$volume.img"
        step "making $volume.img" env E2FSPROGS_FAKE_TIME=820454400 mke2fs -q -F -t ext2 -b 4096 -m 0 -L "$volume" \
            -U "$id" -E hash_seed="$id",root_owner=0:0 "$work/$volume.img" "${image_mb}M"
    done
}

check_images() {
    for volume in $volumes; do
        step "e2fsck of $volume.img" e2fsck -fn "$work/$volume.img"
    done
}

# ---- The copy ---------------------------------------------------------------------------------------

run_on_machine() { # what, program, arguments
    what=$1
    program=$2
    shift 2
    step "$what" "$build/bin/ncube" run -d $dim -m "$machine" --images "$work" --serve "$(dirname "$file")" \
        "$build/examples/$program" "$@"
}

copy_file() { # writer reader
    run_on_machine "piocopy on node $1" piocopy "$(basename "$file")" /demo "$1" "$2"
    echo "copied     $(cat "$work/log")"
}

# Prints the content of a path of a volume. debugfs itself ends with status 0 even if the path does not exist.
take_out() { # volume, path, to
    rm -f "$3"
    step "debugfs on $1.img" debugfs -R "dump $2 $3" "$work/$1.img"
    [ -f "$3" ] || die "no $2 on $1: $(tail -n 1 "$work/log")"
}

describe() { # field of /demo's description
    sed -n "s/^$1 //p" "$work/demo.pio"
}

# Block b of the file is block b / D of volume b mod D: cut the subfiles into blocks named row.volume, and join them
# in the order of their names.
restore_file() {
    rm -rf "$work/blocks"
    mkdir "$work/blocks"
    take_out df00 /demo.pio "$work/demo.pio"
    block=$(describe block)
    k=100
    for volume in $(describe volumes); do
        take_out "$volume" /demo "$work/subfile"
        step "cutting the subfile of $volume" split -b "$block" -d -a 6 --additional-suffix=".$k" "$work/subfile" \
            "$work/blocks/"
        k=$((k + 1))
    done
    find "$work/blocks" -type f | sort | xargs -r -d '\n' cat >"$work/restored"
    rm -rf "$work/blocks" "$work/subfile"
}

sha256() {
    sha256sum <"$1" | cut -d ' ' -f 1
}

compare_file() {
    restored=$(sha256 "$work/restored")
    [ "$restored" = "$(sha256 "$file")" ] ||
        die "the subfiles put together are not $file: SHA-256 $restored instead of $(sha256 "$file")"
    echo "restored   $(describe disks) subfiles, blocks of $block bytes: SHA-256 $restored, as on the host"
}

# ---- The measurement ---------------------------------------------------------------------------------

measure() { # node
    for op in write read; do
        run_on_machine "piobench $op on node $1" piobench $op "$1"
        sed "s/\$/ routings=$routings/" "$work/log" >>"$work/measured"
    done
}

demonstrate() { # node other
    routings=$("$build/bin/ncube" place "$machine" | awk -v node="$1" '$1 == node { print $2 }')
    echo "node $1 of $machine, channel-disjoint routings to its I/O nodes: $routings"
    make_images
    copy_file "$1" "$2"
    check_images
    echo "checked    e2fsck -fn: 8 images without a fault"
    restore_file
    compare_file
    make_images
    measure "$1"
    check_images
    echo "measured   PIO WRITE and READ of 2 MB, plain write and read; 8 images without a fault"
    echo
}

for part in bin/ncube examples/piocopy examples/piobench newlib.path; do
    [ -e "$build/$part" ] || die "$build/$part is missing; run \"make\""
done
[ -n "$file" ] || file=$(cat "$build/newlib.path")/lib/libc.a
[ -f "$file" ] && [ -r "$file" ] || die "$file: no such file, or not readable"
file=$(readlink -f "$file")
image_mb=$((32 + $(wc -c <"$file") / 8 / 1048576))
rm -rf "$work"
mkdir -p "$work"
: >"$work/measured"

demonstrate 3 2
demonstrate 2 3
awk -f "$here/demo_table.awk" "$work/measured"
