#!/bin/sh
# The manual pages, each under all of its names.
#
#   pages.sh FOLDER HEADERS   copies docs/man to FOLDER/man1, man3n and man5, and adds a page that refers to it for each
#                             further name in a page's section NAME, and for each function of MPI in the folder HEADERS;
#                             prints each file, below FOLDER
#
# Finds with `man -M FOLDER NAME`, without a database of man's.
set -eu

pages=$(cd "$(dirname "$0")/../docs/man" && pwd)
to=$1
headers=$2
[ -e "$headers/mpi.h" ] || { echo "pages: no mpi.h in $headers" >&2; exit 1; }

names_of() { # PAGE: those of its section NAME, the first is the page's own
    sed -n '/^\.SH NAME/,/ \\- /{/^\.SH/d;s/ *\\- .*//;s/ and others//;s/[,\\]//g;p;}' "$1"
    [ "${1##*/}" != mpi.3n ] || sed -nE 's/^MPI_(INT_FUNCTION_|FUNCTION_\([A-Za-z_]+, )\(?([A-Za-z_]+),.*/MPI_\2/p' \
        "$headers"/mpi*.h
}

for page in "$pages"/man*/*; do
    section=$(basename "$(dirname "$page")")
    mkdir -p "$to/$section"
    cp "$page" "$to/$section/"
    echo "$section/${page##*/}"
    for name in $(names_of "$page"); do
        file=$section/$name.${section#man}
        [ -e "$pages/$file" ] && continue
        echo ".so $section/${page##*/}" >"$to/$file"
        echo "$file"
    done
done
