#!/bin/bash
# Runs the README's two commands on a bare Debian 12 and 13, as a user who has only make and sudo; prints how both
# ended, how long they took, and the differences between the two.
#
#   check_debian.sh [--package] [RELEASE...]    bookworm and trixie without one; as root, with debootstrap
#
# With --package: makes the package there (make deb), and installs it on another bare system of the release, where a
# program is compiled and run.
#
# DEBIAN_DIR (/tmp/debian-check) keeps the bare systems, the packages fetched and the logs: BASE-RELEASE,
# archives-RELEASE, RELEASE.demo and RELEASE.test. Packages come from this machine's own package source. Each run
# starts from the bare system again: its changes are discarded. Mounts and processes are in separate namespaces
# that end with this script, so that none is left, however it ends.
set -eu

dir=${DEBIAN_DIR:-/tmp/debian-check}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
self=$(readlink -f "$0")

die() {
    echo "check_debian: $*" >&2
    exit 1
}

mirror() { # the address of Debian's own archive among the sources of this machine
    apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 'Origin: Debian' 'Component: main' \
        'Created-By: Packages' | head -n 1
}

make_base() { # RELEASE: the bare system, and the sources that go into it
    [ ! -e "$dir/base-$1" ] || return 0
    [ -n "$(mirror)" ] || die "no apt source of this machine is Debian's; run \"apt-get update\""
    echo "debian $1: debootstrap"
    rm -rf "$dir/new-$1"
    debootstrap --variant=minbase --include=make,sudo,ca-certificates --keyring=$keyring "$1" "$dir/new-$1" \
        "$(mirror)" >"$dir/$1.debootstrap" 2>&1 || die "debootstrap failed: $dir/$1.debootstrap"
    apt-config dump | grep -i '^Acquire::.*Proxy' >"$dir/new-$1/etc/apt/apt.conf.d/90proxy" || true
    chroot "$dir/new-$1" useradd -m -s /bin/bash visitor
    echo "visitor ALL=(ALL) NOPASSWD: ALL" >"$dir/new-$1/etc/sudoers.d/visitor"
    mv "$dir/new-$1" "$dir/base-$1"
}

mount_root() { # RELEASE: a fresh root, for the visitor
    root=$dir/root-$1
    mount -t overlay overlay -o "lowerdir=$dir/base-$1,upperdir=$dir/upper-$1,workdir=$dir/work-$1" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount --bind "$dir/archives-$1" "$root/var/cache/apt/archives"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
    echo 'APT::Keep-Downloaded-Packages "true";' >"$root/etc/apt/apt.conf.d/91keep"
    rm -f "$root/etc/apt/apt.conf.d/docker-clean"
}

add_clone() {
    mkdir "$root/home/visitor/ncube"
    git ls-files -z | tar -c --null -T - | tar -x -C "$root/home/visitor/ncube"
    chroot "$root" chown -R visitor: /home/visitor
}

as_visitor() { # RELEASE NAME COMMAND: what it says goes to RELEASE.NAME
    status=0
    TIMEFORMAT='%0R s, processor time %0U + %0S s'
    {
        time env -i --default-signal PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 chroot "$root" \
            su visitor -c "$3" >"$dir/$1.$2" 2>&1 </dev/null || status=$?
    } 2>"$dir/$1.time"
    echo "debian $1: $2: exit status $status, $(cat "$dir/$1.time"): $(tail -n 1 "$dir/$1.$2")"
    [ $status -eq 0 ] || failed=1
}

inside() { # RELEASE, in namespaces of its own: the two commands
    mount_root "$1"
    add_clone
    for command in demo test; do
        as_visitor "$1" $command "cd ~/ncube && make $command"
    done
    return "${failed:-0}"
}

inside_build() { # RELEASE: makes the package
    mount_root "$1"
    add_clone
    as_visitor "$1" deb 'cd ~/ncube && make setup && sudo apt-get install -qy --no-install-recommends \
        dpkg-dev debhelper fakeroot && make deb'
    cp "$root"/home/visitor/ncube/build/deb/ncube_*.deb "$dir/$1.package" || failed=1
    return "${failed:-0}"
}

inside_install() { # RELEASE: installs it, and uses it
    mount_root "$1"
    cp "$dir/$1.package" "$root/tmp/ncube.deb"
    if [ "$1" = bookworm ]; then # QEMU 10
        echo "deb [signed-by=$keyring] $(mirror) bookworm-backports main" >"$root/etc/apt/sources.list.d/backports.list"
        cp images/backports.pref "$root/etc/apt/preferences.d/ncube"
    fi
    as_visitor "$1" install 'set -e; sudo apt-get -q update
        sudo apt-get install -qy /tmp/ncube.deb; cd; ncc -o hello /usr/lib/ncube/examples/hello.c
        ncube disk create -m tiny --images . 4M; ncube check --images . tiny
        ncube run -d 2 -m tiny --images . ./hello'
    return "${failed:-0}"
}

case ${1:-} in --inside*)
    $(echo "${1#--}" | tr - _) "$2"
    exit
    ;;
esac
[ "$(id -u)" -eq 0 ] || die "chroot and mount need root"
command -v debootstrap >/dev/null || die "debootstrap is missing; install it"
steps=--inside
[ "${1:-}" != --package ] || { steps="--inside-build --inside-install"; shift; }
[ $# -gt 0 ] || set -- bookworm trixie
failed=0
for release; do
    mkdir -p "$dir/archives-$release/partial"
    make_base "$release"
    for step in $steps; do
        rm -rf "$dir/root-$release" "$dir/upper-$release" "$dir/work-$release"
        mkdir -p "$dir/root-$release" "$dir/upper-$release" "$dir/work-$release"
        setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child "$self" $step "$release" || failed=1
    done
    [ "$steps" != --inside ] || grep -A 20 '^FAIL' "$dir/$release.test" || true
    rm -rf "$dir/root-$release" "$dir/upper-$release" "$dir/work-$release"
done
if [ $# -eq 2 ] && [ "$steps" = --inside ]; then
    for command in demo test; do # without the host's times
        strip='s/  *[0-9]* s$//; /^setup:/d; /^newlib:/d'
        if ! diff <(sed "$strip" "$dir/$1.$command") <(sed "$strip" "$dir/$2.$command") >"$dir/$command.diff"; then
            echo "make $command differs between $1 and $2:"
            cat "$dir/$command.diff"
        fi
    done
fi
exit $failed
