#!/bin/bash
# images/setup.sh: the derived source of Debian's backports, from apt sources of every kind; and what it installs,
# against a machine played by fake commands.
set -u
. "$(dirname "$0")/../shell.sh"

setup=$PWD/images/setup.sh
root=$scratch/root
lists=$root/etc/apt/sources.list.d

new_machine() { # VERSION CODENAME
    rm -rf "$root"
    mkdir -p "$lists"
    printf 'NAME="Debian GNU/Linux"\nVERSION_ID="%s"\nVERSION_CODENAME=%s\n' "$1" "$2" >"$root/etc/os-release"
}

derive() { # prints what was derived, and the exit status when it is not 0
    SETUP_ROOT=$root "$setup" --backports || echo "exit $?"
}

derived_is() { # NAME EXPECTED
    same "$1" "$2" "$(derive)"
}

# ---- Derivation --------------------------------------------------------------------------------

new_machine 12 bookworm
cat >"$lists/debian.sources" <<END
# a comment
Types: deb deb-src
URIs: http://mirror.test/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.test/debian-security
Suites: bookworm-security
Components: main
END
derived_is "a stanza gives a stanza with its address and key" "Types: deb
URIs: http://mirror.test/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg"

new_machine 12 bookworm
cat >"$root/etc/apt/sources.list" <<END
# deb http://old.test/debian bookworm main
deb-src http://source.test/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://mirror.test/debian/ bookworm main contrib # the mirror
deb http://mirror.test/debian-security bookworm-security main
END
derived_is "a line gives a line with its options" \
    "deb [arch=amd64 signed-by=/k.gpg] http://mirror.test/debian/ bookworm-backports main"

new_machine 12 bookworm
cat >"$lists/a.list" <<END
deb https://vendor.test/apt bookworm main
END
cat >"$root/etc/apt/sources.list" <<END
deb http://mirror.test/debian bookworm main
deb http://mirror.test/debian bookworm-updates main
END
derived_is "Debian's archive is preferred to a vendor's of the same suite" \
    "deb http://mirror.test/debian bookworm-backports main"
mv "$root/etc/apt/sources.list" "$lists/z.list"
derived_is "whichever comes first" "deb http://mirror.test/debian bookworm-backports main"

new_machine 12 bookworm
cat >"$lists/debian.sources" <<END
Types: deb
URIs: http://off.test/debian
Suites: bookworm
Components: main
Enabled: no

#Types: deb
#URIs: http://out.test/debian
#Suites: bookworm
#Components: main

Types: deb
URIs:
 http://mirror.test/debian
Suites: bookworm
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
END
derived_is "disabled stanzas are passed over; a key in the stanza is kept" "Types: deb
URIs: http://mirror.test/debian
Suites: bookworm-backports
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF"

new_machine 12 bookworm
echo "deb http://mirror.test/debian-security bookworm main" >"$root/etc/apt/sources.list"
derived_is "nothing comes from a security archive" "exit 1"

new_machine 12 bookworm
derived_is "no source, nothing derived" "exit 1"

new_machine 12 bookworm
cat >"$root/etc/apt/sources.list" <<END
deb http://mirror.test/debian bookworm main
#deb http://mirror.test/debian bookworm-backports main
END
derived_is "backports commented out are not there" "deb http://mirror.test/debian bookworm-backports main"
printf 'Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm-updates bookworm-backports\nComponents: main\n' \
    >"$lists/b.sources"
derived_is "backports that are there are not added" "exit 3"

# ---- Installing --------------------------------------------------------------------------------
# The machine's state: $state/packages, one installed package a line; $state/qemu, its version;
# $state/unknown, what no source has; $state/calls, the apt-get calls.

state=$scratch/state
bin=$scratch/bin
mkdir -p "$bin"

fake() { # NAME, script on stdin
    { echo '#!/bin/bash'; echo "state=$state"; cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

fake id <<'END'
echo 0
END
fake dpkg-query <<'END'
sed 's/.*/installed:& /' "$state/packages" | tr -d '\n'
END
fake apt-cache <<'END'
! grep -qx "$2" "$state/unknown"
END
fake apt-get <<'END'
echo "$*" >>"$state/calls"
for arg; do
    case $arg in
    qemu-system-riscv) cp "$state/qemu_of_source" "$state/qemu" ;;
    update | install | -*) ;;
    *) echo "$arg" >>"$state/packages" ;;
    esac
done
END
fake qemu-system-riscv64 <<'END'
[ -e "$state/qemu" ] && echo "QEMU emulator version $(cat "$state/qemu") (Debian)"
END

new_state() { # VERSION of the QEMU that the sources have
    rm -rf "$state"
    mkdir -p "$state"
    touch "$state/packages" "$state/unknown" "$state/calls"
    echo "$1" >"$state/qemu_of_source"
}

run_setup() { # output to $scratch/out; returns its status
    PATH=$bin:$PATH SETUP_ROOT=$root "$setup" >"$scratch/out" 2>&1
}

calls() {
    cat "$state/calls"
}

said() {
    grep -q -e "$1" "$scratch/out"
}

new_machine 12 bookworm
echo "deb http://mirror.test/debian bookworm main" >"$root/etc/apt/sources.list"
new_state 10.0.2
check "a bare Debian 12 is set up" run_setup
same "its backports are added" "deb http://mirror.test/debian bookworm-backports main" \
    "$(cat "$lists/ncube-backports.list")"
same "the lists are read once, before anything is installed" "-qq update" "$(calls | head -n 1)"
same "in three calls" 3 "$(calls | wc -l)"
check "all but QEMU come from Debian itself" grep -q "install .*newlib-source" "$state/calls"
check "only QEMU comes from backports" grep -q -e "install -t bookworm-backports qemu-system-riscv\$" "$state/calls"
check "nothing that is only recommended" grep -q -e "--no-install-recommends" "$state/calls"
: >"$state/calls"
check "a second time succeeds" run_setup
same "and calls apt-get for nothing" "" "$(calls)"
same "and says nothing" "" "$(cat "$scratch/out")"

sed -i /e2fsprogs/d "$state/packages"
check "one missing package is installed" run_setup
same "and no other" "-qq -y --no-install-recommends install e2fsprogs" "$(calls | tail -n 1)"

echo 7.2.0 >"$state/qemu"
check "an old QEMU is replaced" run_setup
same "by that of the source" 10.0.2 "$(cat "$state/qemu")"

new_machine 13 trixie
echo "deb http://mirror.test/debian trixie main" >"$root/etc/apt/sources.list"
new_state 10.0.2
check "a bare Debian 13 is set up" run_setup
same "without backports" "" "$(ls "$lists"; grep backports "$state/calls")"

new_state 7.2.0
check "a QEMU that is too old stops it" eval '! run_setup'
check "and is named" said "could not be had: qemu-system-riscv (qemu-system-riscv >= 10 is needed)"

new_state 10.0.2
printf 'libcriterion-dev\nnewlib-source\n' >"$state/unknown"
check "packages that no source has stop it" eval '! run_setup'
check "and are named" said "no apt source of this machine has: newlib-source libcriterion-dev"
same "before anything is installed" "-qq update" "$(calls)"

new_machine 12 bookworm
new_state 10.0.2
check "a Debian 12 without a source of Debian's stops it" eval '! run_setup'
check "and says what is missing" said "no apt source of this machine names bookworm main"

finish
