#!/bin/bash
# Prints each file of the product by folder, with the first sentence of the comment that it, or its header, opens with.
#
#   map_of_files.sh
set -eu
cd "$(dirname "$0")/../.."

# Prints the first sentence of the comment at the top of a file, nothing if there is none.
first_sentence() {
    awk '/^#define _GNU_SOURCE/ && !text { next }
         NR <= 3 && /^\/\*/ { inside = 1 }
         !inside { exit }
         { line = $0
           ended = sub(/ *\*\/.*/, "", line)
           sub(/^ *\/?\*+ ?/, "", line)
           if (line == "" && text != "") exit
           text = text (text == "" || line == "" ? "" : " ") line
           if (ended) exit }
         END { if (match(text, /[.;]( |$)/)) text = substr(text, 1, RSTART)
               print text }' "$1"
}

last=
while read -r file; do
    folder=${file%/*}
    [ "$folder" = "$last" ] || printf '\n%s\n' "$folder/"
    last=$folder
    text=$(first_sentence "$file")
    [ -n "$text" ] || [ ! -e "${file%.c}.h" ] || text=$(first_sentence "${file%.c}.h")
    printf '    %-24s %s\n' "${file##*/}" "$text"
done < <(git ls-files '*.c' '*.S' | grep -v '^tests/')
