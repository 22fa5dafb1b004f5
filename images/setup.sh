#!/bin/sh
# Installs with apt-get what the build, the demonstration and the tests need, and nothing that is there
# already. For Debian 12 and 13; sudo is used when not root. Silent when there is nothing to do.
#
# Debian 12's own QEMU is too old: the newer one comes from its backports, whose source is derived from the
# machine's own apt sources (backports.awk) and written to a file of its own.
#
#   setup.sh                      check and install; exit 1 when something cannot be had, naming it
#   setup.sh --backports          print the derived source only
#
# SETUP_ROOT=DIR finds etc/os-release and etc/apt below DIR instead of /.
set -eu

here=$(dirname "$0")
root=${SETUP_ROOT:-}
qemu_package=qemu-system-riscv
qemu_min=10
packages="make gcc libc6-dev xz-utils gcc-riscv64-unknown-elf binutils-riscv64-unknown-elf newlib-source
          libcriterion-dev libconfig-dev libelf-dev libdw-dev e2fsprogs libjansson-dev"

say() {
    echo "setup: $*"
}

die() {
    echo "setup: $*" >&2
    exit 1
}

os_release() { # field of os-release, empty when not known
    sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" "$root/etc/os-release" 2>/dev/null || true
}

qemu_is_new_enough() {
    version=$(qemu-system-riscv64 --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p')
    [ "${version:-0}" -ge $qemu_min ]
}

missing_packages() {
    states=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' $packages 2>/dev/null || true)"
    for package in $packages; do
        case "$states" in
        *" installed:$package "*) ;;
        *) echo "$package" ;;
        esac
    done
}

all_missing() { # one line: the packages that are missing, QEMU's among them
    missing=$(missing_packages)
    qemu_is_new_enough || missing="$missing $qemu_package"
    echo $missing
}

backports_source() { # exit status as backports.awk's
    set --
    for file in "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*.list \
        "$root"/etc/apt/sources.list.d/*.sources; do
        [ -r "$file" ] && set -- "$@" "$file"
    done
    [ $# -gt 0 ] || return 1
    awk -f "$here/backports.awk" -v codename="$(os_release VERSION_CODENAME)" "$@"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

quietly() { # as root; what the command said is shown only when it fails
    if ! as_root env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        return 1
    fi
}

add_backports() {
    status=0
    text=$(backports_source) || status=$?
    case $status in
    0) ;;
    3) return ;;
    *) die "$qemu_package >= $qemu_min is in Debian's backports, but no apt source of this machine" \
        "names $(os_release VERSION_CODENAME) main, so that theirs is not known; add it and run this again" ;;
    esac
    case $text in
    "deb "*) file=$root/etc/apt/sources.list.d/ncube-backports.list ;;
    *) file=$root/etc/apt/sources.list.d/ncube-backports.sources ;;
    esac
    say "adding $(os_release VERSION_CODENAME)-backports in $file"
    echo "$text" | as_root tee "$file" >/dev/null
}

install_packages() { # RELEASE, or nothing for the machine's own; PACKAGE...
    release=$1
    shift
    say "installing $*${release:+ from $release}"
    quietly apt-get -qq -y --no-install-recommends install ${release:+-t "$release"} "$@" || true
}

install_all() { # the packages wanted, one line
    qemu_release=
    case " $1 " in *" $qemu_package "*)
        if [ "$(os_release VERSION_ID)" = 12 ]; then
            add_backports
            qemu_release=$(os_release VERSION_CODENAME)-backports
        fi
        ;;
    esac
    say "apt-get update"
    quietly apt-get -qq update || say "apt-get update failed; going on with the package lists there are"

    unknown=
    known=
    for package in $1; do
        if ! apt-cache show "$package" >/dev/null 2>&1; then
            unknown="$unknown $package"
        elif [ "$package" != $qemu_package ]; then
            known="$known $package"
        fi
    done
    [ -z "$unknown" ] || die "no apt source of this machine has:$unknown"
    [ -z "$known" ] || install_packages "" $known
    qemu_is_new_enough || install_packages "$qemu_release" $qemu_package
}

if [ "${1:-}" = --backports ]; then
    backports_source
    exit
fi
wanted=$(all_missing)
[ -n "$wanted" ] || exit 0

command -v apt-get >/dev/null || die "no apt-get here; by another way, please install: $wanted"
[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || die "not root, and no sudo; needed: $wanted"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install_all "$wanted"
wanted=$(all_missing)
case " $wanted " in
"  ") ;;
*" $qemu_package "*) die "could not be had: $wanted ($qemu_package >= $qemu_min is needed)" ;;
*) die "could not be had: $wanted" ;;
esac
