#!/bin/bash
# ncube star on files that programs have written to images and to the host: the streams, the array that becomes of them,
# and what repair makes of files that nobody has closed. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncube=$build/bin/ncube
PATH=$PATH:/usr/sbin:/sbin
cd "$scratch" || exit 1
star() { "$ncube" star "$@"; }
refused() { # NAME STATUS TEXT WORD...: one line that has TEXT
    local name=$1 expected=$2 text=$3
    shift 3
    status "$name" "$expected" star "$@"
    same "$name: one line" 1 "$(wc -l <err)"
    check "$name: it says '$text'" grep -qF -- "$text" err
}
images_sound() {
    for image in df0?.img; do
        e2fsck -fn "$image" >fsck.out 2>&1 || return 1
    done
}

cat >machine.conf <<'X'
dim = 3;
boards = ( { number = 3; io_nodes = (
    { index = 0; si = [7]; drives = ( { volume = "df00"; image = "df00.img"; } ); },
    { index = 1; si = [6]; drives = ( { volume = "df01"; image = "df01.img"; } ); },
    { index = 2; si = [5]; drives = ( { volume = "df02"; image = "df02.img"; } ); } ); } );
X
"$ncube" disk create -m machine.conf 1M --block 1K >/dev/null
status "a program writes" 0 "$ncube" run -d 3 -m machine.conf "$build/guest/star_kills" before 3

# ---- show, cat, convert: 101 VPs have 3 items in NB, 4 in CB, 16 of 20 in IB; item k of VP v is 1000 v + k + 1

streams() { # WORD...: the streams of some VPs, as text
    for vp in 0 7 50 100; do
        star cat "$@" $vp | od -A n -t f8 -v
    done
}
expected() {
    for vp in 0 7 50 100; do
        for ((k = 0; k < 27; k++)); do
            [ $k -ge 7 ] && [ $(((vp + k) % 5)) -eq 0 ] || echo $((1000 * vp + k + 1))
        done
    done
}
status "show" 0 star -m machine.conf show pio:/kept
same "show: all" "shape    101
VPs      101 in row order
writer   8 nodes, which closed it
NB       3 rows of 8 bytes for each, from byte 0 on
CB       32 bytes for each, in blocks of 24, from byte 2424 on
IB       blocks of 16 in 16 superblocks of 1024, from byte 8192 on; entries of 2 blocks in 8
reason   a write of 8 bytes at offset 24 that lie 24 apart
streams  18584 bytes; 184 to 184 for each" "$(cat out)"
same "cat" "$(expected)" "$(streams -m machine.conf pio:/kept | xargs -n 1 printf '%.0f\n')"
status "convert into the images" 0 star -m machine.conf convert pio:/kept pio:/flat --bytes 40 --fill 7
status "convert to the host" 0 star -m machine.conf convert pio:/kept flat --bytes 40 --fill 7
check "the images are sound" images_sound
"$ncube" disk -m machine.conf get pio:/flat from_images
check "the same bytes" cmp -s flat from_images
check "cat of it begins as before" cmp -s <(star cat flat 7 | head -c 184) <(star -m machine.conf cat pio:/kept 7)
same "then the fill" "7" "$(star cat flat 7 | tail -c +185 | od -A n -t u1 -v | xargs -n 1 | sort -u)"
same "an array: row 1 of VP 3" "$(star cat flat 3 | head -c 80 | tail -c 40 | cksum)" \
    "$(tail -c +$((40 * (101 + 3) + 1)) flat | head -c 40 | cksum)"

# ---- meta: an array of others

head -c $((12 * 5 * 8)) /dev/urandom >array
refused "meta of half a row" 1 "are no whole number of rows of 112" meta array 7 --block 16
status "meta" 0 star meta array 3 4 --block 8
same "its text" "star 1|state closed|shape 3 4|order row|nodes 1|nb 8 5|cb 8 0|end" "$(paste -sd '|' array.meta)"
same "the third VP's second item" "$(tail -c +$((8 * (12 + 2) + 1)) array | head -c 8 | cksum)" \
    "$(star cat array 2 | tail -c +9 | head -c 8 | cksum)"
refused "meta again" 1 "array.meta: already exists" meta array 3 4 --block 8

# ---- The order of a row: arrays of (i, j) with 10 i + j in it, of 3 x 4, two rows, of which the second has 100 more

numbers() { # NAME ORDER...: a row in that order of places, then the next one
    local name=$1 x
    shift
    for row in 0 100; do
        for x; do printf "\\$(printf %o $((x + row)))\0\0\0"; done
    done >"$name"
}
all_vps() { # WORD...: the streams of all 12, as text
    for ((vp = 0; vp < 12; vp++)); do star cat "$@" $vp; done | od -A n -t d4 -v | xargs
}
by_row="0 1 2 3 10 11 12 13 20 21 22 23"
by_column="0 10 20 1 11 21 2 12 22 3 13 23"
by_cell="0 1 10 11 2 3 12 13 20 21 22 23" # cells of 2 x 2
pairs=$(for x in $by_row; do echo $x $((x + 100)); done | xargs)
# shellcheck disable=SC2086
{
    numbers rows $by_row
    numbers columns $by_column
    numbers cells $by_cell
}
status "meta in row order" 0 star meta rows 3 4 --block 4 --order row
status "meta in column order" 0 star meta columns 3 4 --block 4 --order column
status "meta in a grid" 0 star meta cells 3 4 --block 4 --order grid:2x2
same "its line" "order grid 2 2" "$(grep order cells.meta)"
status "show of a grid" 0 star show cells
same "show: the order" "VPs      12 in grid order, cells 2x2" "$(sed -n 2p out)"
for name in rows columns cells; do
    same "streams of $name" "$pairs" "$(all_vps $name)"
    status "$name in row order" 0 star convert $name $name.row --bytes 4
    status "$name in column order" 0 star convert $name $name.column --bytes 4 --order column
    status "$name in a grid" 0 star convert $name $name.grid --bytes 4 --order grid:2x2
    check "$name: the arrays" eval "cmp $name.row rows && cmp $name.column columns && cmp $name.grid cells"
    same "$name: order lines" "order row|order column|order grid 2 2" \
        "$(grep -h order $name.row.meta $name.column.meta $name.grid.meta | paste -sd '|')"
done
status "cells may be empty" 0 star convert rows empty --bytes 4 --order grid:5x3
same "streams of empty cells" "$pairs" "$(all_vps empty)"
"$ncube" disk -m machine.conf put columns pio:/columns >/dev/null
status "meta on images" 0 star -m machine.conf meta pio:/columns 3 4 --block 4 --order column
same "streams on images" "$pairs" "$(all_vps -m machine.conf pio:/columns)"
rm rows.meta
refused "no such order" 2 "meta: 'rows': an order is row, column or grid:G0xG1..." meta rows 3 4 --block 4 --order rows
refused "a grid of zero" 2 "'grid:0x4': the cells of a dimension" meta rows 3 4 --block 4 --order grid:0x4
refused "a grid without numbers" 2 "'grid:': the cells of a dimension" meta rows 3 4 --block 4 --order grid:
refused "a dimension too few" 2 "'grid:2': the shape has 2 dimensions" meta rows 3 4 --block 4 --order grid:2
refused "a dimension too many" 2 "'grid:2x2x2': the shape has 2" meta rows 3 4 --block 4 --order grid:2x2x2
refused "a number is followed by a letter" 2 "'grid:2x2y'" meta rows 3 4 --block 4 --order grid:2x2y
refused "convert in no order" 2 "convert: 'colum': an order" convert columns none --bytes 4 --order colum
check "nothing was made" test ! -e none -a ! -e rows.meta

# ---- repair

for part in '' .first .dir; do
    "$ncube" disk -m machine.conf get "pio:/kept$part" "kept$part"
done
"$ncube" disk -m machine.conf get //df00/kept.meta kept.meta
same "the host reads what the images have" "$(expected)" "$(streams kept | xargs -n 1 printf '%.0f\n')"
sed -i 's/state closed/state writing/' kept.meta
refused "cat of what was not closed" 1 "ncube star repair" cat kept 0
head -c $((101 * 16)) /dev/zero >kept.first # and `next` of every entry
for ((at = 4; at < $(stat -c %s kept.dir); at += 16)); do
    printf '\1\1\1\1' | dd of=kept.dir bs=1 seek=$at conv=notrunc 2>/dev/null
done
status "repair" 0 star repair kept
check "it tells" grep -q '404 entries; 0 that made no sense are dropped; 101 streams end with a whole block' out
same "all streams are back" "$(expected)" "$(streams kept | xargs -n 1 printf '%.0f\n')"
refused "repair of what is closed" 1 "there is nothing to repair" repair kept

sed 's/^dim = 3;/&\nfaults = ( { node = 5; from_us = 1400000; } );/' machine.conf >dying.conf
status "a program is stopped" 123 "$ncube" run -d 3 -m dying.conf "$build/guest/star_kills" call 3
refused "repair on images that are not clean" 1 "not clean" -m machine.conf repair pio:/x --block 8
"$ncube" disk fsck -m machine.conf >/dev/null
cp df01.img df01.whole
cp df02.img df02.whole
cp df00.img df00.whole

# A volume that has less of the file than the others, as a drive that died leaves it: 512 bytes, units 1 and 4 of 256.
shorten() { # IMAGE NAME BYTES
    debugfs -w -R "punch $2 $((($3 + 1023) / 1024)) 999" "$1" 2>/dev/null
    debugfs -w -R "sif $2 size $3" "$1" 2>/dev/null
}
shorten df01.img x 512
status "repair of what a volume has lost" 0 star -m machine.conf repair pio:/x --block 8
check "whole rows up to there" grep -q '^NB       2 rows' out
same "a stream of it" "7001 7002" "$(star -m machine.conf cat pio:/x 7 | od -A n -t f8 -v | xargs)"
"$ncube" disk -m machine.conf get //df00/kept.meta written.meta
sed -i 's/state closed/state writing/' written.meta
"$ncube" disk -m machine.conf rm //df00/kept.meta
"$ncube" disk -m machine.conf put written.meta //df00/kept.meta >/dev/null
size=$(debugfs -R 'stat kept' df02.img 2>/dev/null | sed -n 's/.*Size: \([0-9][0-9]*\)$/\1/p' | head -1)
shorten df02.img kept $((size - 1024))
status "repair of an IB segment of which a volume has lost a part" 0 star -m machine.conf repair pio:/kept
shorter=0
for ((vp = 0; vp < 101; vp += 4)); do
    values=$(star -m machine.conf cat pio:/kept $vp | od -A n -t f8 -v | xargs)
    wanted=$(for ((k = 0; k < 27; k++)); do
        [ $k -ge 7 ] && [ $(((vp + k) % 5)) -eq 0 ] || echo $((1000 * vp + k + 1))
    done | xargs)
    case "$wanted " in "$values "*) ;; *) same "VP $vp: the first of its values" "$wanted" "$values" ;; esac
    [ "$values" = "$wanted" ] || shorter=$((shorter + 1))
done
check "some streams are shorter, some are not: $shorter" test $shorter -gt 0 -a $shorter -lt 26
check "the images are sound after that" images_sound
for k in 0 1 2; do mv df0$k.whole df0$k.img; done
status "repair of a new file" 0 star -m machine.conf repair pio:/x --block 8
status "show of it" 0 star -m machine.conf show pio:/x
check "it has the rows of NB" grep -q '^NB       3 rows of 8 bytes' out
check "it has whole rows of CB" grep -q '^CB       48 bytes for each, in blocks of 24' out
same "a stream of it" "7001 7002 7003 7004 7005 7006 7007" \
    "$(star -m machine.conf cat pio:/x 7 | head -c 56 | od -A n -t f8 -v | xargs)"
check "the images are sound after repair" images_sound
status "a program writes it anew" 0 "$ncube" run -d 3 -m machine.conf "$build/guest/star_kills" call 3
same "all of it is there" "7027" "$(star -m machine.conf cat pio:/x 7 | tail -c 8 | od -A n -t f8 -v | xargs)"

# ---- Bad input

refused "no verb" 2 "give cat, convert, meta, repair or show"
refused "a verb nearly right" 2 "did you mean 'show'?" shwo kept
refused "a VP that is not there" 2 "'101': the virtual processors are 0 to 100" cat kept 101
refused "no file" 1 "none: has no .meta" show none
refused "no machine" 2 "give its file with -m" show pio:/kept
refused "no such file in the images" 1 "pio:/none: has no .meta" -m machine.conf cat pio:/none 0
printf 'star 1\n' >bad.meta
refused "a damaged .meta" 1 "bad.meta: is not the description of a parallel file" show bad
for part in '' .meta .first; do cp kept$part special$part; done
mkfifo special.dir
refused "a part is a FIFO" 1 "special.dir: Invalid argument" cat special 0
rm special.dir
mkdir special.dir
refused "a part is a folder" 1 "special.dir: Is a directory" cat special 0
cp kept short
cp kept.meta short.meta
cp kept.first short.first
refused "a part is missing" 1 "short.dir: does not fit the .meta" show short
for ((seed = 1; seed <= 40; seed++)); do # one byte is another: right, or one line
    for part in .meta .first .dir; do cp kept$part fuzz$part; done
    cp kept fuzz
    part=$(printf '.meta\n.first\n.dir\n' | sed -n $((seed % 3 + 1))p)
    at=$((seed * 7919 % $(stat -c %s fuzz$part)))
    printf "\\x$(printf %x $((seed * 37 % 256)))" | dd of=fuzz$part bs=1 seek=$at conv=notrunc 2>/dev/null
    timeout 60 "$ncube" star show fuzz >out 2>err &&
        timeout 60 "$ncube" star cat fuzz $((seed * 5 % 101)) >/dev/null 2>>err
    status=$?
    [ $status -le 1 ] && [ "$(wc -l <err)" -le 1 ] && continue
    same "$part, byte $at: status and lines" "0 or 1" "$status, $(wc -l <err)"
done
check "damaged files end with a line" true

finish
