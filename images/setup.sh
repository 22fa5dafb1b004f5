#!/bin/sh
# Installs with apt-get the packages that are not installed. For Debian 12 and 13; uses sudo if not root. Prints
# nothing if there is nothing to do; if a package is not available, names it and exits with 1.
#
#   setup.sh            what the build needs: images/packages
#   setup.sh --tests    and what tests and development need: tests/packages
#
# Debian 12 has a QEMU that is new enough only in its backports. If these are not among this machine's apt sources, the
# script adds them, from the machine's own source of Debian; backports.pref takes only QEMU from them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lists=packages
[ "${1:-}" != --tests ] || lists="packages ../tests/packages"
packages=$(cd "$here" && sed 's/#.*//' $lists)
qemu_package=qemu-system-riscv
qemu_min=10
etc=${SETUP_ETC:-/etc} # another one in tests

say() {
    echo "setup: $*"
}

die() {
    echo "setup: $*" >&2
    exit 1
}

missing_packages() { # one line; any QEMU that is new enough will do
    states=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' $packages 2>/dev/null || true)"
    qemu=$(qemu-system-riscv64 --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p')
    for package in $packages; do
        case "$package $states" in
        "$qemu_package "*) [ "${qemu:-0}" -ge $qemu_min ] || printf ' %s' "$package" ;;
        *" installed:$package "*) ;;
        *) printf ' %s' "$package" ;;
        esac
    done
}

as_root() { # what the command says is shown only when it fails
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    if ! $sudo env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        return 1
    fi
}

update() {
    say "apt-get update"
    as_root apt-get -qq update || say "apt-get update failed; going on with the package lists there are"
}

archive() { # LABEL CODENAME: the address of that archive of Debian's, when it is among the apt sources
    apt-get indextargets --format '$(REPO_URI)' "Label: $1" "Codename: $2" 'Component: main' \
        'Created-By: Packages' | head -n 1
}

add_backports() {
    codename=$(. "$etc/os-release" && echo "$VERSION_CODENAME")
    [ "$codename" = bookworm ] && [ -z "$(archive "Debian Backports" $codename-backports)" ] || return 0
    uri=$(archive Debian $codename)
    [ -n "$uri" ] || die "$qemu_package >= $qemu_min is in Debian's backports, but no apt source of this machine" \
        "names $codename main, so that theirs is not known; add it and run this again"
    say "adding $codename-backports in $etc/apt/sources.list.d/ncube-backports.list"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $codename-backports main" >"$source"
    as_root install -m 644 "$source" "$etc/apt/sources.list.d/ncube-backports.list"
    update
}

wanted=$(missing_packages)
[ -n "$wanted" ] || exit 0

command -v apt-get >/dev/null || die "no apt-get here; by another way, please install:$wanted"
[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || die "not root, and no sudo; needed:$wanted"
log=$(mktemp)
source=$(mktemp)
trap 'rm -f "$log" "$source"' EXIT
update
case $wanted in *" $qemu_package"*) add_backports ;; esac
unknown=
for package in $wanted; do
    apt-cache show "$package" >/dev/null 2>&1 || unknown="$unknown $package"
done
[ -z "$unknown" ] || die "no apt source of this machine has:$unknown"
say "installing$wanted"
as_root apt-get -qq -y --no-install-recommends -o "Dir::Etc::Preferences=$here/backports.pref" install $wanted || true
wanted=$(missing_packages)
case $wanted in
"") ;;
*" $qemu_package"*) die "could not be had:$wanted ($qemu_package >= $qemu_min is needed)" ;;
*) die "could not be had:$wanted" ;;
esac
