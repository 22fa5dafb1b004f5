#!/bin/bash
# images/setup.sh: the packages that it installs, on a machine of fake commands. make check-debian uses real systems.
set -u
. "$(dirname "$0")/../shell.sh"

setup=$PWD/images/setup.sh
etc=$scratch/etc
bin=$scratch/bin
state=$scratch/state # files: packages, installed ones; qemu, its version; unknown; archives; calls of apt-get
added=$etc/apt/sources.list.d/ncube-backports.list
mkdir -p "$bin"

fake() { # NAME, script on stdin
    { printf '#!/bin/bash\nstate=%s etc=%s\n' "$state" "$etc"; cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

fake id <<<'echo "$(cat "$state/user")"'
fake sudo <<<'echo "sudo $*" >>"$state/sudo"; exec "$@"'
fake dpkg-query <<<'sed "s/.*/installed:& /" "$state/packages" | tr -d "\n"'
fake apt-cache <<<'! grep -qx "$2" "$state/unknown"'
fake qemu-system-riscv64 <<<'[ -e "$state/qemu" ] && echo "QEMU emulator version $(cat "$state/qemu") (Debian)"'
fake apt-get <<'END_OF_FAKE'
if [ "$1" = indextargets ]; then
    grep "^$4,$5," "$state/archives" | cut -d, -f 3
    exit 0
fi
echo "$*" >>"$state/calls"
case " $* " in *" install "*) ;; *) exit 0 ;; esac
for arg; do
    case $arg in
    qemu-system-riscv) cp "$state/qemu_of_source" "$state/qemu" ;;
    *) echo "$arg" >>"$state/packages" ;;
    esac
done
END_OF_FAKE

new_machine() { # CODENAME, VERSION of the QEMU that the sources have
    rm -rf "$state" "$etc"
    mkdir -p "$state" "$etc/apt/sources.list.d"
    echo "VERSION_CODENAME=$1" >"$etc/os-release"
    touch "$state/packages" "$state/unknown" "$state/calls" "$state/sudo"
    echo 0 >"$state/user"
    echo "$2" >"$state/qemu_of_source"
    echo "Label: Debian,Codename: $1,http://m.test/debian/" >"$state/archives"
}

run_setup() { # [--tests]: output to $scratch/out; returns its status
    PATH=$bin:$PATH SETUP_ETC=$etc "$setup" "$@" >"$scratch/out" 2>&1
}

calls() {
    cat "$state/calls"
}

said() {
    grep -q -e "$1" "$scratch/out"
}

new_machine bookworm 10.0.2
check "a bare Debian 12 is set up" run_setup
same "its backports are added, from where Debian is" \
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://m.test/debian/ bookworm-backports main" \
    "$(cat "$added")"
same "the lists are read before and after" "-qq update -qq update" "$(echo $(calls | head -n 2))"
same "all is installed in one call" 3 "$(calls | wc -l)"
check "QEMU from backports; nothing that is only recommended" grep -q "$state/calls" -e \
    "--no-install-recommends -o Dir::Etc::Preferences=.*/backports.pref install make gcc .*qemu-system-riscv"
: >"$state/calls"
check "a second time succeeds" run_setup
same "and calls apt-get for nothing, and says nothing" "" "$(calls; cat "$scratch/out")"

check "what only tests need is not installed" sh -c '! grep -E "criterion|clang|gdb|gnuplot|man-db" "$0"' \
    "$state/packages"
check "with --tests it is" run_setup --tests
same "and nothing else" \
    "install libcriterion-dev man-db clang-format gnuplot-nox libopenmpi-dev openmpi-bin gdb-multiarch" \
    "$(calls | tail -n 1 | grep -o 'install lib.*')"
: >"$state/calls"
check "once" run_setup --tests
same "and no more" "" "$(calls; cat "$scratch/out")"

sed -i /^e2fsprogs/d "$state/packages"
check "one missing package is installed" run_setup
same "and no other" "install e2fsprogs" "$(calls | tail -n 1 | grep -o 'install e.*')"
same "by root without sudo" "" "$(cat "$state/sudo")"

rm "$added"
echo "Label: Debian Backports,Codename: bookworm-backports,http://other.test/" >>"$state/archives"
echo 7.2.0 >"$state/qemu"
echo 1000 >"$state/user"
check "an old QEMU is replaced, for a user" run_setup
same "by that of the source" 10.0.2 "$(cat "$state/qemu")"
check "backports that are there are not added" [ ! -e "$added" ]
same "everything is done by sudo" "$(calls | tail -n 2)" "$(sed -n 's/^.* apt-get //p' "$state/sudo")"

new_machine trixie 10.0.2
check "a bare Debian 13 is set up" run_setup
check "without backports" [ ! -e "$added" ]

new_machine trixie 7.2.0
check "a QEMU that is too old stops it" eval '! run_setup'
check "and is named" said "could not be had: qemu-system-riscv (qemu-system-riscv >= 10 is needed)"

new_machine trixie 10.0.2
printf 'libcriterion-dev\nnewlib-source\n' >"$state/unknown"
check "packages that no source has stop it" eval '! run_setup --tests'
check "and are named" said "no apt source of this machine has: newlib-source libcriterion-dev"
same "before anything is installed" "-qq update" "$(calls)"

new_machine bookworm 10.0.2
: >"$state/archives"
check "a Debian 12 without a source of Debian's stops it" eval '! run_setup'
check "and says what is missing" said "no apt source of this machine names bookworm main"

finish
