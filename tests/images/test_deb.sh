#!/bin/bash
# make deb makes a package that has what make install installs, and whose programs run. BUILD is the argument.
# Skipped where Debian's tools for packages are missing.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
clone=$(readlink -f "$(dirname "$0")/../..")
cd "$scratch" || exit 1

# What the build needs is what a clone needs, but for the tests, QEMU and tools.
for package in $(sed 's/#.*//' "$clone/images/packages" | tr ' ' '\n' |
    grep -E -- '-(dev|elf|source)$'); do
    case $package in libc6-dev) continue ;; esac
    check "Build-Depends has $package" grep -q "^\(Build-Depends:\)\{0,1\}.* $package\b" "$clone/debian/control"
done

# Interrupted, or failed, it leaves nothing under the package's name. Here the tools only act as if.
mkdir -p tools begun/bin begun/deb
touch begun/bin/ncube begun/deb/ncube_1.0_amd64.deb
printf '#!/bin/sh\n' | tee tools/dh >tools/fakeroot
cat >tools/dpkg-buildpackage <<'END'
#!/bin/sh
echo half >../ncube_1.0_amd64.deb
sleep 1000 &
echo $! >"$CHILD"
kill -TERM $PPID
wait
END
chmod +x tools/*
(PATH=$scratch/tools:$PATH CHILD=$scratch/child exec "$clone/images/package.sh" begun) >out 2>err
same "interrupted: status" 143 $?
same "interrupted: nothing is left but the log" log "$(ls begun/deb)"
check "interrupted: what it has started ends" timeout 60 sh -c \
    'while grep -q "^State:.[^Z]" /proc/$(cat child)/status 2>/dev/null; do :; done'

for tool in dpkg-buildpackage dh fakeroot; do
    command -v $tool >/dev/null && continue
    skip "make deb" "$tool is not installed"
    finish
done

# The build, but for most members of the nodes' libraries and most of their programs: lintian examines each by a process
# of its own. What the package is compressed by does not matter here.
newlib=$(cat "$build/newlib.path")
mkdir "$scratch/build"
cp -R "$build"/{bin,lib,include,examples,machines,measure,host} "$newlib" "$scratch/build"
build=$scratch/build
echo "$build/${newlib##*/}" >"$build/newlib.path"
for archive in "$build"/lib/*.a "$build/${newlib##*/}"/lib/*.a; do
    ar t "$archive" | tail -n +4 | xargs -r ar d "$archive"
done
find "$build/examples" -type f -perm /111 ! -name hello ! -path '*/mpi/pi' -delete
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1

status "make deb" 0 "$clone/images/package.sh" "$build"
package=$(cat out)
check "a package" test -s "$package"
dpkg -x "$package" "$scratch/unpacked"
for mpi in "$(dirname "$package")"/ncube-mpi_*.deb; do
    [ ! -e "$mpi" ] || dpkg -x "$mpi" "$scratch/unpacked"
done
DESTDIR=$scratch/installed "$clone/images/install.sh" "$build" /usr
files() { # below usr, without what a package adds, and without its name for packed pages
    (cd "$1" && find usr ! -type d | sed 's/\.gz$//' |
        grep -v 'usr/share/doc/ncube\(-mpi\)\?/\(changelog\|copyright\|LICENSE\)\|lintian' | sort)
}
same "it has what make install installs" "" "$(diff <(files "$scratch/installed") <(files "$scratch/unpacked"))"
same "its programs run" "hello from node 0 of 1" \
    "$(timeout 60 "$scratch/unpacked/usr/bin/ncube" run "$scratch/unpacked/usr/lib/ncube/examples/hello")"
if command -v lintian >/dev/null; then
    same "lintian finds no fault" "" "$(lintian --fail-on error "$package" 2>&1 | grep '^E:')"
else
    skip "lintian" "it is not installed"
fi
finish
