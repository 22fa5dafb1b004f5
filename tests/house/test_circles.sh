#!/bin/bash
# No circles: within a folder, files call downwards only, so that each can be read and tested without those above it.
#
#   test_circles.sh BUILD
#
# BUILD's objects tell, through nm: a file calls another one of its folder when it refers to a symbol, function or
# variable, that the other defines. A pointer in a table of handlers counts where the table is filled in.
# tests/house/circles names the files that are in a circle, each with its reason; a circle that is not there fails the
# test, and so does a line whose circle has been opened. Between folders, test_house.sh checks the order.
set -u
build=$(realpath "${1:-build}")
cd "$(dirname "$0")/../.."
. tests/shell.sh

# Prints "SOURCE TYPE SYMBOL" for each symbol of the sources below folders of objects, without the source's suffix.
symbols() {
    (cd "$build/$1" && find $2 -name '*.o' | sort) | while read -r object; do
        source=${object%.o}
        # Objects whose source is gone stay in a build.
        [ -e "$source.c" ] || [ -e "$source.S" ] && echo "$build/$1/$object"
    done | xargs nm -gA 2>/dev/null | awk -v top="$build/$1/" '{
        file = substr($1, length(top) + 1)
        sub(/\.o:.*/, "", file)
        print file, $(NF - 1), $NF
    }'
}

# Prints "FOLDER: FILE..." for each folder: the files from which calls lead back to them.
circles() {
    awk '{ folder = name = $1
           sub(/\/[^\/]*$/, "", folder)
           sub(/.*\//, "", name)
           file[folder, ++files[folder]] = name
           if (name == last && folder == last_folder) files[folder]--
           last = name; last_folder = folder
           if ($2 ~ /^[Uw]$/) used[folder SUBSEP name SUBSEP $3] = 1
           else defines[folder, $3] = name }
         END {
           for (use in used) {
               split(use, u, SUBSEP)
               if (((u[1], u[3]) in defines) && defines[u[1], u[3]] != u[2])
                   leads[u[1], u[2], defines[u[1], u[3]]] = 1
           }
           for (f in files) {
               for (k = 1; k <= files[f]; k++)
                   for (i = 1; i <= files[f]; i++)
                       if ((f, file[f, i], file[f, k]) in leads)
                           for (j = 1; j <= files[f]; j++)
                               if ((f, file[f, k], file[f, j]) in leads)
                                   leads[f, file[f, i], file[f, j]] = 1
               text = ""
               for (i = 1; i <= files[f]; i++)
                   if ((f, file[f, i], file[f, i]) in leads)
                       text = text " " file[f, i]
               if (text != "")
                   print f ":" text
           }
         }' | sort
}

{
    symbols obj emu
    symbols rv "nsdisk libpio vertex images"
} >"$scratch/symbols"
for folder in emu/cmd emu/front emu/model nsdisk/ext2 libpio/file vertex/trap images/lib/posix; do
    check "$folder has been built" grep -q "^$folder/" "$scratch/symbols"
done
check "each circle has its reason" test -z "$(grep -v '^#' tests/house/circles | grep -v '[^ ]: .* # [^ ]')"
same "files in circles" "$(sed '/^#/d; s/ *#.*//' tests/house/circles)" "$(circles <"$scratch/symbols")"
finish
