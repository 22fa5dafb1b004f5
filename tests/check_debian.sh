#!/bin/bash
# Runs the README's two commands on a bare Debian 12 and 13, as a user who has only make and sudo; prints how both
# ended, and the differences between the two.
#
#   check_debian.sh [RELEASE...]       bookworm and trixie without one; as root, with debootstrap
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

inside() { # RELEASE, in namespaces of its own: the two commands
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
    mkdir "$root/home/visitor/ncube"
    git ls-files -z | tar -c --null -T - | tar -x -C "$root/home/visitor/ncube"
    chroot "$root" chown -R visitor: /home/visitor
    for command in demo test; do
        status=0
        env -i --default-signal PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 chroot "$root" \
            su visitor -c "cd ~/ncube && make $command" >"$dir/$1.$command" 2>&1 </dev/null || status=$?
        echo "debian $1: make $command: exit status $status: $(tail -n 1 "$dir/$1.$command")"
        [ $status -eq 0 ] || failed=1
    done
    return "${failed:-0}"
}

if [ "${1:-}" = --inside ]; then
    inside "$2"
    exit
fi
[ "$(id -u)" -eq 0 ] || die "chroot and mount need root"
command -v debootstrap >/dev/null || die "debootstrap is missing; install it"
[ $# -gt 0 ] || set -- bookworm trixie
failed=0
for release; do
    mkdir -p "$dir/archives-$release/partial"
    make_base "$release"
    rm -rf "$dir/root-$release" "$dir/upper-$release" "$dir/work-$release"
    mkdir -p "$dir/root-$release" "$dir/upper-$release" "$dir/work-$release"
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child "$self" --inside "$release" || failed=1
    grep -A 20 '^FAIL' "$dir/$release.test" || true
    rm -rf "$dir/root-$release" "$dir/upper-$release" "$dir/work-$release"
done
if [ $# -eq 2 ]; then
    for command in demo test; do # without the host's times
        strip='s/  *[0-9]* s$//; /^setup:/d; /^newlib:/d'
        if ! diff <(sed "$strip" "$dir/$1.$command") <(sed "$strip" "$dir/$2.$command") >"$dir/$command.diff"; then
            echo "make $command differs between $1 and $2:"
            cat "$dir/$command.diff"
        fi
    done
fi
exit $failed
