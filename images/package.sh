#!/bin/sh
# make deb: a Debian package of what is built, BUILD/deb/ncube_VERSION_ARCHITECTURE.deb, by dpkg-buildpackage.
#
#   package.sh BUILD
#
# It is for the release of Debian on which it is made: others have other versions of its libraries.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES # of the make that runs this

here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
out=$build/deb

die() {
    echo "package: $*" >&2
    exit 1
}

end_by() { # SIGNAL
    kill -TERM "-$builder" 2>/dev/null
    wait "$builder" || true
    rm -rf "$new"
    trap - "$1"
    kill -s "$1" $$
}

for tool in dpkg-buildpackage dh fakeroot; do
    command -v $tool >/dev/null || die "$tool is missing; install dpkg-dev, debhelper and fakeroot"
done
[ -e "$build/bin/ncube" ] || die "nothing is built in $build; run \"make\" first"
rm -rf "$out"
new=$out/new # the package gets its name in $out when it is complete
mkdir -p "$new/ncube"
(cd "$here" && tar -c debian docs images README.md CONTRIBUTING.md NEWS.md LICENSE Makefile) | tar -x -C "$new/ncube"
cd "$new/ncube"
[ -e "$build/bin/ncube-mpi" ] || export DH_OPTIONS=-Nncube-mpi # built without Open MPI
# Of a package with debug symbols nothing would be kept.
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} noautodbgsym"
# In a process group of its own, so that a signal that ends this script ends all that it has started.
NCUBE_BUILD=$build setsid dpkg-buildpackage --build=binary --no-sign --no-pre-clean -d >"$out/log" 2>&1 &
builder=$!
for signal in HUP INT TERM; do trap "end_by $signal" $signal; done
wait $builder || {
    tail -n 20 "$out/log" >&2
    die "dpkg-buildpackage failed; $out/log has all that it said"
}
mv "$new"/ncube*.deb "$out"
rm -rf "$new"
echo "$out"/ncube_*.deb
