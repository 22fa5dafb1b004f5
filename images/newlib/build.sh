#!/bin/sh
# Builds newlib, the nodes' C library, from Debian's newlib-source. The result is kept outside the clone:
#
#   ${NCUBE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ncube}/newlib-VERSION-HASH/{include,lib}
#
# HASH is of this script, of the headers that it takes and of the compiler's version. It is built beside its place and moved there
# whole, under a lock, so that an interrupted build leaves nothing that looks complete, and two at a time do it once.
#
#   build.sh            build when it is not there
#   build.sh --path     print the folder's name only; nothing when newlib-source or the compiler is missing
set -eu

here=$(dirname "$0")
target=riscv64-unknown-elf
cache=${NCUBE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ncube}

# HAVE_RENAME: the port has rename, not link and unlink. HAVE_BLKSIZE: stdio's buffers have st_blksize bytes.
# HAVE_OPENDIR, NO_: what libvertex has itself, and what takes other programs, users or terminals.
# -g1: the tables by which the callers of a function are found (only_frames), and no other code.
# -Wno-error: sleep and usleep, which are left out below, call nanosleep without a declaration; gcc 14 refuses that.
cflags="-O2 -g1 -march=rv64gc -mabi=lp64d -mcmodel=medany -ffunction-sections -fdata-sections
        -DHAVE_RENAME -DHAVE_BLKSIZE -DHAVE_OPENDIR -D_NO_GETCWD -D_NO_PREAD -D_NO_PWRITE
        -D_NO_EXECVE -D_NO_POPEN -D_NO_POSIX_SPAWN -D_NO_WORDEXP -D_NO_GETLOGIN -D_NO_GETPASS -D_NO_GETUT
        -D_NO_SIGSET -D_NO_TTYNAME -Wno-error=implicit-function-declaration"
options="--disable-multilib --disable-libgloss --disable-nls --disable-shared --disable-newlib-multithread
         --enable-newlib-io-c99-formats --enable-newlib-io-long-long --enable-newlib-io-long-double
         --enable-newlib-mb --disable-dependency-tracking"

# Of libvertex, too, and not to be left out by a definition.
others='_isatty|isatty|sysisatty|creat|sleep|usleep|remove'

# Headers that cannot be included, for want of a machine's part; gcc has a stdatomic.h of its own.
useless="regdef.h stdatomic.h sys/custom_file.h sys/dirent.h termios.h threads.h utmp.h"

die() {
    echo "newlib: $*" >&2
    exit 1
}

newest_archive() {
    ls -1 /usr/src/newlib/newlib-*.tar.xz 2>/dev/null | sort -V | tail -n 1
}

archive=$(newest_archive)
if [ -z "$archive" ] || ! command -v $target-gcc >/dev/null; then
    [ "${1:-}" = --path ] && exit 0
    die "newlib-source or gcc-$target is not installed; run \"make setup\""
fi
version=$(basename "$archive" .tar.xz)
dirent=$here/../../vertex/include/dirent.h
hash=$( (cat "$0" "$here/types.h" "$dirent" && $target-gcc -dumpfullversion) | sha256sum | cut -c 1-12)
home=$cache/$version-$hash

[ "${1:-}" = --path ] && echo "$home" && exit 0
[ -e "$home/lib/libc.a" ] && exit 0

# Patterns, regular expressions, getline, lstat: newlib has them, but not for RISC-V, or under other names.
add_posix() { # SOURCE
    echo 'posix_dir=posix unix_dir=unix' >>"$1/configure.host" &&
        sed -i -e 's|^/[*] getdelim - see.*|ssize_t getdelim (char **, size_t *, int, FILE *);|' \
            -e 's|^/[*] getline - see.*|ssize_t getline (char **, size_t *, FILE *);|' "$1/libc/include/stdio.h" &&
        sed -i -e 's/^#if defined (__SPU__) || defined(__rtems__).*/#if 1/' \
            -e '/^#if defined(__CYGWIN__)\( || defined(__rtems__)\)*$/s/.*/#if 1/' "$1/libc/include/sys/stat.h"
}

# sigsetjmp is for all, and _setjmp does not write behind a jmp_buf. "0x" without a digit behind it is a 0, with an x behind
# it. "100e" is no number for scanf (C11 7.21.6.2). Of languages there are no locales: their names are unknown.
mend() { # SOURCE
    sed -i -e 's/^#if (defined(__CYGWIN__) || defined(__rtems__)) && __POSIX_VISIBLE/#if __POSIX_VISIBLE/' \
        -e 's/sigsetjmp ((env), 0)/setjmp (env)/; s/siglongjmp ((env), (val))/longjmp (env, val)/' \
        "$1/libc/include/machine/setjmp.h" &&
        sed -i "s/\((\*s == L*'x' || \*s == L*'X')\)) {/\1 \&\& ((s[1] | 32) - 'a' < 6u || s[1] - '0' < 10u)) {/" \
            "$1"/libc/stdlib/strto*.c "$1"/libc/stdlib/wcsto*.c &&
        sed -i 's|/[*] just a bad exponent.*|goto match_failure;|' "$1"/libc/stdio/vf*scanf.c &&
        sed -i '/^  else.*POSIX style/,/c = locale/s/c = locale;/FAIL;/' "$1/libc/locale/locale.c"
}

leave_out() { # INSTALLED
    members=$($target-ar t "$1/lib/libc.a" | grep -E "^libc?_a-($others)\.o$") &&
        $target-ar d "$1/lib/libc.a" $members &&
        (cd "$1/include" && rm -f $useless)
}

# Of what a debugger reads, keeps only the call frame information, so that a fault in newlib names its callers.
only_frames() { # INSTALLED
    for library in "$1"/lib/*.a; do
        $target-objcopy -R .debug_info -R .debug_abbrev -R .debug_line -R .debug_line_str -R .debug_str -R .debug_aranges \
            -R .debug_rnglists -R .debug_loclists "$library" || return
    done
}

build() { # in $work, to $work/install
    tar -xJf "$archive" --strip-components=1 -C "$work/src" --exclude='*/libgloss/*' --exclude='*/winsup/*' &&
        mkdir -p "$work/src/newlib/libc/machine/riscv/machine" &&
        cp "$here/types.h" "$work/src/newlib/libc/machine/riscv/machine/_types.h" &&
        cp "$dirent" "$work/src/newlib/libc/include/dirent.h" &&
        add_posix "$work/src/newlib" &&
        mend "$work/src/newlib" &&
        cd "$work/build" &&
        ../src/configure --target=$target --prefix="$work/install" $options \
            CFLAGS_FOR_TARGET="$(echo $cflags)" &&
        make -j"$(nproc)" all-target-newlib &&
        make install-target-newlib &&
        leave_out "$work/install/$target" &&
        only_frames "$work/install/$target"
}

here=$(cd "$here" && pwd)
dirent=$here/../../vertex/include/dirent.h
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
[ -e "$home/lib/libc.a" ] && exit 0

echo "newlib: building $version into $home"
rm -rf "$cache"/build.* # left by a build that was killed
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/src" "$work/build"
# The options of the make that runs this script are not for newlib's.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
if ! (build) >"$work/log" 2>&1 9>&-; then
    cp "$work/log" "$cache/failed.log"
    tail -n 15 "$work/log" >&2
    die "the build failed; all of it is in $cache/failed.log"
fi
mv "$work/install/$target" "$home"
