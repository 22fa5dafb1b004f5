#!/bin/bash
# The pictures of README.md: parts of the page about a run, drawn by a browser without a window (Debian's chromium).
#
#   pictures.sh BUILD OUT       writes OUT/cube.png and OUT/timeline.png
set -eu

build=$(readlink -f "$1")
out=$2
browser=$(command -v chromium) || {
    echo "pictures: chromium is not installed; run \"apt install chromium\"" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Draws only the frame with the canvas of this name.
draw() { # CANVAS WIDTH HEIGHT
    cp "$work/page.html" "$work/$1.html"
    cat >>"$work/$1.html" <<END
<style>body{max-width:none;margin:0;padding:0}body>:not(.frame:has(#$1)){display:none!important}
.frame{margin:0!important;border:0!important;max-height:none!important}.mark{display:none}</style>
END
    "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --hide-scrollbars \
        "--user-data-dir=$work/browser" "--window-size=$2,$3" "--screenshot=$work/$1.png" "file://$work/$1.html" \
        >"$work/log" 2>&1
    [ -s "$work/$1.png" ] || { cat "$work/log" >&2; exit 1; }
    mkdir -p "$out"
    cp "$work/$1.png" "$out/"
}

"$build/bin/ncube" run -d 4 "--report=$work/page.html" "$build/examples/slow_ring" halves >"$work/log"
draw cube 640 270
draw timeline 640 420
