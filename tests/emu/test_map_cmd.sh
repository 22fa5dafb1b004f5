#!/bin/bash
# ncube map: pictures of patterns, and the bytes that two patterns have in common. BUILD is the argument. Boots nothing.
set -u
. "$(dirname "$0")/../shell.sh"

ncube=$(readlink -f "$1")/bin/ncube
images=$(readlink -f "$(dirname "$0")/../../images")
cd "$scratch" || exit 1

# picture WORD...: only the lines of the picture, without their file offsets
picture() {
    "$ncube" map "$@" | sed -n '/^a character/,/^\(element\|A \)/p' | sed '1,2d; /^$/,$d; s/^ *[0-9]* *//'
}

# ---- Pictures

same "a stripe: four periods" "0 1 2 0 1 2 0 1 2 0 1 2" "$(picture 'cyclic 1024 3')"
same "more elements than a line has room for" "64 36 1" "$(picture 'cyclic 8 100' | awk '{ print length }' | xargs) $(
    "$ncube" map 'cyclic 8 100' | grep -c 'and 36 more')"
same "an array is drawn by rows" "0 1|0 1|2 3|2 3" "$(picture 'array 4x4x8 block,block on 2x2' | paste -sd '|')"
same "rows of another length" "0 1|0 1" "$(picture --row=8 '(0,3,8,2)(4,7,8,2)' | paste -sd '|')"
same "[P3 Figure 4.5]" "0 1 0 1|2 3 2 3|0 1 0 1|2 3 2 3" \
    "$(picture --row 4 '(0,3,8,2,4,2,{(0,0,2,2,1,2)})' | paste -sd '|')"
same "nobody has what a view leaves out" "0 . 0 . . . . ." "$(picture --row=8 'view 8 (0,0,2,2)')"
same "a permutation of bits" "0 1 2 3" "$(picture --row=8 'bits p1-0 o0-0')"
status "a displacement" 0 "$ncube" map 'cyclic 2 3 +5'
same "it begins there" "5  0 1 2 0 1 2 0 1 2 0 1 2" "$(sed -n 4p out)"
status "a large matrix" 0 "$ncube" map 'array 4096x4096x8 block,block on 2x4'
same "it is drawn whole" "0 1 2 3|0 1 2 3|0 1 2 3|0 1 2 3|4 5 6 7|4 5 6 7|4 5 6 7|4 5 6 7" \
    "$(picture 'array 4096x4096x8 block,block on 2x4' | paste -sd '|')"
check "one whose blocks fall between cells has marks" \
    grep -q '^\*\*\*\*' <(picture 'array 4000x130x8 block,block on 3x3')
status "small pieces of a large one" 0 "$ncube" map 'array 4096x4096x8 cyclic,cyclic on 2x2'
check "the beginning only, and it says so" grep -qx 'the first 64 of 4096 cells of a line' out
check "of lines, too" grep -qx 'the first 32 of 4096 lines' out
status "as large as files can be" 0 "$ncube" map 'cyclic 500000000000000 8192'
status "no element has its table's end" 0 "$ncube" map 'array 3x1x1 block,* on 4x1'
same "an element with nothing" "3 0 0" "$(awk '$1 == 3 { print $1, $2, $3 }' out)"

# ---- Colours only for a terminal

if terminal_for "colours on a terminal"; then
    colours() { env "$1" script -qec "'$ncube' map 'cyclic 1 2'" /dev/null </dev/null | grep -c $'\033\[48;5;'; }
    same "colours on a terminal" 1 "$(colours TERM=xterm)"
    same "none on a dumb one" 0 "$(colours TERM=dumb)"
    same "none if none are wanted" 0 "$(TERM=xterm colours NO_COLOR=1)"
fi
same "none in a file" 0 "$("$ncube" map 'cyclic 1 2' | grep -c $'\033')"

# ---- Two patterns: [P1 Figure 5]

status "two patterns" 0 "$ncube" map 'array 4x4x1 *,block on 1x2' 'cyclic 8 2'
same "drawn one below the other" "A 0 1|B 0 0|A 0 1|B 0 0|A 0 1|B 1 1|A 0 1|B 1 1" \
    "$(sed -n '/^a character/,/^A  /p' out | sed '1,2d; /^$/,$d; s/^ *[0-9]* //; s/  */ /g' | paste -sd '|')"
same "who meets whom" "0 0 4 2 2|0 1 4 2 2|1 0 4 2 2|1 1 4 2 2" \
    "$(sed -n '/^A  /,/^$/p' out | sed '1d; /^$/d' | xargs -n 5 | paste -sd '|')"
check "in all" grep -qx '4 messages, 8 runs, 16 bytes in common of 16 from byte 0 on' out
check "short runs" grep -q '^packed: ' out
status "the same on both sides" 0 "$ncube" map 'cyclic 8 4' 'cyclic 8 4'
check "each has one partner" grep -q '^matched: ' out
status "long runs" 0 "$ncube" map 'cyclic 65536 4' 'cyclic 4096 3'
check "they go as they are" grep -q '^coarse: ' out
status "nothing in common" 0 "$ncube" map 'view 8 (0,3,-,1)' 'view 8 (4,7,-,1)'
check "no message" grep -qx '0 messages, 0 runs, 0 bytes in common of 8 from byte 0 on' out
status "many pairs" 0 "$ncube" map 'cyclic 1 20' 'cyclic 20 20'
check "a table has an end" grep -qx '... and 336 more; --json has all' out

# ---- Long common periods

blocks='array 1000x1000x8 cyclic(11),cyclic(13) on 2x2'
status "periods without a common divisor" 1 "$ncube" map 'array 999x1001x24 *,cyclic(3) on 1x5' "$blocks"
same "what it says" "$(cat err)" \
    "ncube: elements 0 and 0: what they have in common takes too many nodes; give --bytes of a file"
status "a file of the array's size" 0 "$ncube" map --bytes=23999976 'array 999x1001x24 *,cyclic(3) on 1x5' "$blocks"
check "all of its bytes" grep -q ', 23999976 bytes in common of 23999976 from byte 0 on' out
status "less than a period" 0 "$ncube" map --bytes=6 'cyclic 2 2' 'cyclic 4 2 +1'
check "from the displacement on" grep -qx '3 messages, 4 runs, 5 bytes in common of 5 from byte 1 on' out
status "two periods and a half of one pair" 0 "$ncube" map --bytes=10 'cyclic 1 2' '(0,3,-,1,4,2)'
check "but one of both" grep -qx '4 messages, 8 runs, 8 bytes in common of 8 from byte 0 on' out
status "part of a period" 0 "$ncube" map --bytes=7 'cyclic 1 2' 'cyclic 8 1'
same "whole rows and a rest" "0 0 4 4 1|1 0 3 3 1" \
    "$(sed -n '/^A  /,/^$/p' out | sed '1d; /^$/d' | xargs -n 5 | paste -sd '|')"
status "more than a period" 0 "$ncube" map --bytes 1000 'cyclic 2 2' 'cyclic 4 2'
check "is one period" grep -q 'of 8 from byte 0 on' out

# ---- JSON

status "one as JSON" 0 "$ncube" map --json 'cyclic 4 2 +3'
same "its elements" '"falls": "(0,3,-,1)" "falls": "(4,7,-,1)"' "$(grep -o '"falls": .*' out | paste -sd ' ')"
check "its displacement" grep -q '"displacement": 3,' out
status "two as JSON" 0 "$ncube" map --json 'array 4x4x1 *,block on 1x2' 'cyclic 8 2'
same "all pairs" 4 "$(grep -c '"longest": 2' out)"
check "messages" grep -q '"messages": 4,' out
check "the way" grep -q '"way": "packed"' out
status "nothing in common as JSON" 0 "$ncube" map --json 'view 8 (0,3,-,1)' 'view 8 (4,7,-,1)'
check "no way" grep -q '"way": null' out

# ---- SVG

status "a picture" 0 "$ncube" map --svg=p.svg 'array 4x4x8 block,block on 2x2'
same "nothing on standard output" 0 "$(wc -c <out)"
same "a rectangle for each run of cells" 8 "$(grep -c '<rect' p.svg)"
same "begins and ends" "<svg </svg>" "$(sed -n '1s/\(.....\).*/\1/p;$p' p.svg | paste -sd '')"
status "of two" 0 "$ncube" map --svg=q.svg 'array 4x4x1 *,block on 1x2' 'cyclic 8 2'
same "both are in it" 12 "$(grep -c '<rect' q.svg)"
status "shared cells" 0 "$ncube" map --svg=r.svg 'array 4000x130x8 block,block on 3x3'
check "are explained" grep -q '>a cell: 32 bytes of 122 lines; hatched: of several elements</text>' r.svg
check "are hatched" grep -q 'fill="url(#several)"' r.svg
status "a folder that is not there" 1 "$ncube" map --svg=none/p.svg 'cyclic 1 2'
same "what it says" "ncube: none/p.svg: No such file or directory" "$(cat err)"
status "a full device" 1 "$ncube" map --svg=/dev/full 'cyclic 1 2'
same "a full device: what it says" "ncube: /dev/full: No space left on device" "$(cat err)"

# ---- On a machine

echo 'dim = 5;' >five.conf
on_machine() { # NAME EXPECTED WORD...: the last two lines
    local name=$1 expected=$2
    shift 2
    status "$name" 0 "$ncube" map "$@"
    same "$name: channels" "$expected" "$(tail -n 2 out | paste -sd '|')"
}
on_machine "equal mappings are pairs" \
    "busiest channel: 0 -> 16, 1056 bytes with headers, and 15 more as busy|at most 34.48 MB/s by the channels" \
    -m five.conf 'cyclic 1024 16' 'cyclic 1024 16'
same "places" "A on nodes 0 to 15, B on nodes 16 to 31" "$(tail -n 3 out | head -n 1)"
on_machine "two readers share a channel" \
    "busiest channel: 2 -> 0, 4352 bytes with headers, and 7 more as busy|at most 16.73 MB/s by the channels" \
    -m five.conf 'array 64x64x8 *,block on 1x16' 'array 64x64x8 block,block on 4x4'
status "the larger side comes first" 0 "$ncube" map -m five.conf 'cyclic 64 3' 'cyclic 64 8'
check "the larger side comes first: places" grep -qx "A on nodes 8 to 10, B on nodes 0 to 7" out
on_machine "drives" \
    "busiest channel: 1 -> 3, 32896 bytes with headers, and 5 more as busy|at most 8.85 MB/s by the channels" \
    -m "$images/sandia.conf" --drives 'cyclic 16384 8' 'cyclic 16384 8'
status "channels as JSON" 0 "$ncube" map --json -m five.conf 'cyclic 1024 16' 'cyclic 1024 16'
same "channels as JSON: numbers" '"from": "0", "to": "16", "bytes": 1056, "as_busy": 15' \
    "$(grep -A4 '"busiest_channel"' out | tail -n 4 | sed 's/^ *//' | paste -sd ' ')"
status "nothing in common" 0 "$ncube" map -m five.conf 'view 8 (0,3,-,1)' 'view 8 (4,7,-,1)'
same "nothing in common: channels" "A on node 0, B on node 1: no channel is used" "$(tail -n 1 out)"
status "too many nodes" 1 "$ncube" map -m five.conf 'cyclic 1024 32' 'cyclic 1024 2'
same "too many nodes: what it says" "ncube: 32 and 2 nodes do not fit into the machine's 32" "$(cat err)"
status "too many drives" 1 "$ncube" map --drives -m "$images/sandia.conf" 'cyclic 1024 2' 'cyclic 1024 9'
same "too many drives: what it says" \
    "ncube: the second pattern has 9 elements, but the machine has 8 drives" "$(cat err)"

# ---- Views and layouts

blocks='array 16x16x8 block,block on 2x2' columns='array 16x16x8 *,block on 1x4'
last() { # the last line but LINES
    tail -n "$1" out | head -n 1
}
status "views on stripes" 0 "$ncube" map --match "$blocks" 'cyclic 256 4'
same "views on stripes: shares" "0 - - - -|1 - - - -|2 - - - -|3 - - - -" \
    "$(sed -n '4,7p' out | sed 's/  */ /g; s/^ //' | paste -sd '|')"
same "views on stripes: in all" "16 requests, 2048 bytes in 32 runs: 64.0 a run, 4.0 subfiles a view of 4" "$(last 1)"
status "views that are the layout" 0 "$ncube" map --match "$columns" "$columns"
same "views that are the layout: in all" "4 requests, 2048 bytes in 4 runs: 512.0 a run, 1.0 subfiles a view of 4" \
    "$(last 2)"
same "views that are the layout: match" "they match: each view is one run of a subfile" "$(last 1)"
status "an access" 0 "$ncube" map --access 0-99 "$blocks" "$columns"
same "an access: what of which subfile, and how" "0 0 64 2 32.0 0-63 gathered|0 1 36 2 18.0 0-35 gathered" \
    "$(awk '$1 == 0 && NF == 7 { $1 = $1; print }' out | paste -sd '|')"
status "an access, all of it one run" 0 "$ncube" map --access=0-63 'cyclic 64 4' 'cyclic 64 4'
same "an access, all of it one run: copies" "0 bytes gathered by processes, 0 scattered by servers" "$(last 1)"
status "an access that servers scatter" 0 "$ncube" map --access 0-31 'array 4x4x8 *,cyclic on 1x4' 'cyclic 128 1'
same "an access that servers scatter: copies" "0 bytes gathered by processes, 128 scattered by servers" "$(last 1)"
status "as JSON" 0 "$ncube" map --json --access 0-31 'array 4x4x8 *,cyclic on 1x4' 'cyclic 128 1'
same "as JSON: a share" '"bytes": 32, "runs": 4, "first": 8, "last": 111, "gathered": false, "scattered": true' \
    "$(grep -A7 '"view": 1' out | tail -n 6 | sed 's/^ *//' | paste -sd ' ')"
status "as SVG" 0 "$ncube" map --match --svg=m.svg "$blocks" 'cyclic 256 4'
same "as SVG: a cell for each share, and a frame" 17 "$(grep -c '<rect' m.svg)"
status "an access as SVG" 0 "$ncube" map --access 0-31 --svg=a.svg 'array 4x4x8 *,cyclic on 1x4' 'cyclic 128 1'
same "an access as SVG: what is copied" 4 "$(grep -c '>s</text>' a.svg)"
status "an SVG that cannot be written" 1 "$ncube" map --match --svg=none/m.svg "$blocks" "$columns"
same "an SVG that cannot be written: what it says" "ncube: none/m.svg: No such file or directory" "$(cat err)"
status "advice" 0 "$ncube" map --advise "$columns"
same "advice: the view itself" "advice: $columns" "$(last 1)"
same "advice: as JSON" "$columns" \
    "$("$ncube" map --advise --json "$columns" | sed -n 's/.*"layout": "\(.*\)",/\1/p' | head -n 1)"
status "advice for views with holes: stripes" 0 "$ncube" map --advise 'view 8 (0,3,-,1)' 'view 16 (4,7,-,1)'
check "advice for views with holes: no view" grep -q '^advice: cyclic' out
status "an access that does not ascend" 1 "$ncube" map --access 0-1 'bits o2- o0-0 p0-0 o1-1' 'cyclic 4 2'
same "an access that does not ascend: what it says" "ncube: the bytes of element 0 of A do not ascend in the file" \
    "$(cat err)"

# ---- Wrong command lines

refused() { # NAME MESSAGE WORD...
    local name=$1 message=$2
    shift 2
    status "$name" 2 "$ncube" map "$@"
    same "$name: what it says" "ncube: $message; see ncube map --help" "$(cat err)"
    same "$name: nothing else" 0 "$(wc -c <out)"
}
refused "no pattern" "give a pattern, such as 'cyclic 1024 3'"
refused "three" "3 patterns; at most two, but for --advise" 'cyclic 1 2' 'cyclic 2 2' 'cyclic 3 2'
refused "nine" "unexpected word 'i'" --advise a b c d e f g h i
refused "a word too few" "pattern 'cyclic 4': column 9: the number of elements expected" 'cyclic 4'
refused "the second is wrong" \
    "pattern 'x': column 1: 'cyclic', 'array', 'bits', 'falls' or 'view' expected" 'cyclic 1 2' x
refused "overlapping blocks" "pattern '(0,3,2,2)': column 9: s is 2: blocks of 4 bytes overlap" '(0,3,2,2)'
refused "elements that share a byte" \
    "pattern '(0,3,-,1)(3,6,-,1)': column 19: elements 0 and 1 both have byte 3" '(0,3,-,1)(3,6,-,1)'
refused "a byte that is in none" "pattern '(0,3,-,1)(5,6,-,1)': column 19: byte 4 is in no element" '(0,3,-,1)(5,6,-,1)'
refused "control characters" "pattern 'a??[1mb': column 1: 'cyclic', 'array', 'bits', 'falls' or 'view' expected" \
    $'a\n\033[1mb'
refused "a machine for one pattern" "-m compares two patterns; give the second one" -m five.conf 'cyclic 1 2'
refused "drives of no machine" "--drives needs the machine that has them: -m FILE" --drives 'cyclic 1 2' 'cyclic 2 2'
refused "a drawing of channels" "--svg draws patterns, not channels; omit -m" --svg=x.svg -m five.conf \
    'cyclic 1 2' 'cyclic 2 2'
for range in 5 5- -5 9-5 0-x 0-99999999999999999999; do
    refused "access $range" "--access '$range' is not FIRST-LAST, two bytes of a view, such as 0-4095" \
        --access="$range" 'cyclic 1 2' 'cyclic 2 2'
done
refused "two studies" "--match, --access and --advise: give one of them" --match --advise 'cyclic 1 2' 'cyclic 2 2'
refused "a match of one" "--match compares views and a layout; give both patterns" --match 'cyclic 1 2'
refused "an access of one" "--access compares views and a layout; give both patterns" --access 0-1 'cyclic 1 2'
refused "a match on a machine" "-m is not for views and layouts; omit it" --match -m five.conf 'cyclic 1 2' 'cyclic 2 2'
refused "a match by rows" "--row is not for views and layouts; omit it" --match --row=8 'cyclic 1 2' 'cyclic 2 2'
refused "drawn advice" "--advise draws nothing; omit --svg" --advise --svg=x.svg 'cyclic 1 2'
refused "rows of nothing" "row '0': give a number of bytes" --row=0 'cyclic 1 2'
refused "no bytes" "bytes '-1': give a number of bytes" --bytes=-1 'cyclic 1 2' 'cyclic 2 2'
refused "too many pairs" "8192 x 8192 pairs of elements are too many; at most 1048576" 'cyclic 1 8192' 'cyclic 2 8192'

finish
