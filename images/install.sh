#!/bin/sh
# make install, make uninstall: installs the build below PREFIX, and removes it again.
#
#   install.sh BUILD PREFIX             (DESTDIR=FOLDER goes before PREFIX: for packages)
#   install.sh --remove PREFIX
#
#   PREFIX/lib/ncube/            the layout of BUILD: bin, lib, include, examples, machines, measure; and newlib
#   PREFIX/bin/                  links to the commands there: these find the rest beside the target of the link
#   PREFIX/include/nhost.h, PREFIX/include/ncube/nhost.h, PREFIX/lib/libnhost.a   for host programs
#   PREFIX/share/man/            manual pages; a page with several names gets all of them
#   PREFIX/share/doc/ncube/      README.md, CONTRIBUTING.md, NEWS.md and docs/
#   PREFIX/share/bash-completion/   completion for bash
#   PREFIX/lib/ncube/installed   what lies outside lib/ncube, one path a line, below PREFIX
#   PREFIX/lib/ncube/folders     folders of PREFIX that were not there, inner ones first
#   PREFIX/lib/ncube/above       how many folders were not there from PREFIX itself upwards
#
# This script builds nothing: with sudo, HOME may differ, and with it newlib's place. The nodes' headers are not
# installed in PREFIX/include, where the host's compiler would find them.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)

die() {
    echo "install: $*" >&2
    exit 1
}

# Below PREFIX, outer ones first: those that are missing are made, and go when they are empty.
folders="bin include include/ncube lib share share/doc share/man share/man/man1 share/man/man3n share/man/man5
         share/bash-completion share/bash-completion/completions"

make_folders() { # and lists in lib/ncube/folders those that were not there
    made=
    above=0
    path=$root
    while [ ! -d "$path" ]; do
        above=$((above + 1))
        path=$(dirname "$path")
    done
    for folder in $folders; do
        [ -d "$root/$folder" ] && continue
        mkdir -p "$root/$folder"
        made="$folder $made"
    done
    mkdir "$tree"
    echo "$made" >"$tree/folders"
    echo "$above" >"$tree/above"
}

remove() { # what an earlier one has put there
    [ -e "$root/lib/ncube/installed" ] || return 0
    while IFS= read -r path; do
        rm -f "$root/$path"
    done <"$root/lib/ncube/installed"
    made=$(cat "$root/lib/ncube/folders" 2>/dev/null) || made=
    above=$(cat "$root/lib/ncube/above" 2>/dev/null) || above=0
    rm -rf "$root/lib/ncube" "$root/share/doc/ncube"
    for folder in $made; do
        [ ! -d "$root/$folder" ] || rmdir --ignore-fail-on-non-empty "$root/$folder"
    done
    path=$root
    while [ "$above" -gt 0 ] && rmdir --ignore-fail-on-non-empty "$path" && [ ! -d "$path" ]; do
        above=$((above - 1))
        path=$(dirname "$path")
    done
}

own() { # PATH below PREFIX, outside lib/ncube
    echo "$1" >>"$tree/installed"
}

install_tree() {
    mkdir -p "$tree/newlib"
    for part in bin lib include examples machines measure; do
        cp -RP "$build/$part" "$tree/"
    done
    cp -RP "$newlib/include" "$newlib/lib" "$tree/newlib/"
}

install_commands() {
    for command in "$build"/bin/*; do
        name=${command##*/}
        ln -sf "../lib/ncube/bin/$name" "$root/bin/$name"
        own "bin/$name"
    done
}

install_host_library() {
    for file in include/nhost.h include/ncube/nhost.h lib/libnhost.a; do
        cp "$build/host/$file" "$root/$file"
        own "$file"
    done
}

install_pages() {
    pages=$("$here/images/pages.sh" "$root/share/man" "$build/include")
    for page in $pages; do
        own "share/man/$page"
    done
}

install_completion() { # bash looks for it by the command's name
    cp "$here/images/completion.bash" "$root/share/bash-completion/completions/ncube"
    own share/bash-completion/completions/ncube
    for name in xnc ncc; do
        ln -sf ncube "$root/share/bash-completion/completions/$name"
        own "share/bash-completion/completions/$name"
    done
}

install_docs() {
    doc=$root/share/doc/ncube
    mkdir -p "$doc/docs/pictures"
    cp "$here/README.md" "$here/CONTRIBUTING.md" "$here/NEWS.md" "$here/LICENSE" "$doc/"
    cp "$here"/docs/*.md "$here"/docs/*.svg "$doc/docs/"
    cp "$here"/docs/pictures/*.png "$doc/docs/pictures/"
}

if [ "$1" = --remove ]; then
    root=${DESTDIR:-}$2
    [ -e "$root/lib/ncube/installed" ] || die "nothing is installed in $2"
    remove
    exit
fi

build=$1
case $2 in
/*) root=${DESTDIR:-}$2 ;;
*) die "PREFIX=$2: give an absolute path" ;;
esac
tree=$root/lib/ncube
newlib=$(cat "$build/newlib.path" 2>/dev/null) && [ -e "$newlib/lib/libc.a" ] && [ -e "$build/bin/ncube" ] &&
    [ -e "$build/lib/nsdisk.elf" ] || die "nothing is built in $build; run \"make\" first"
umask 022
remove
make_folders
install_tree
install_commands
install_host_library
install_pages
install_completion
install_docs
chmod -R u=rwX,go=rX "$tree" "$root/share/doc/ncube"
