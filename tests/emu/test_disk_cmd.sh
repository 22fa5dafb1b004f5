#!/bin/bash
# ncube disk on images of its own and of mke2fs, judged by e2fsck and debugfs; PIO files, written by a node and read on
# the host and the other way around. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncube=$build/bin/ncube
sandia=$(readlink -f "$(dirname "$0")/../../images/sandia.conf")
PATH=$PATH:/usr/sbin:/sbin
cd "$scratch" || exit 1

sound() { # IMAGE: e2fsck finds nothing, the image is clean
    e2fsck -fn "$1" >fsck.out 2>&1 && dumpe2fs -h "$1" 2>&1 | grep -q '^Filesystem state: *clean$'
}
disk() { "$ncube" disk "$@"; }
# Prints an image without the superblock's time of the last write: opening an image to change it stores the second.
without_time() {
    head -c $((1024 + 48)) "$1"
    tail -c +$((1024 + 48 + 4 + 1)) "$1"
}

refused() { # NAME STATUS TEXT WORD...: one line that has TEXT; the image a.img is what it was
    local name=$1 expected=$2 text=$3
    shift 3
    cp a.img before.img
    status "$name" "$expected" disk "$@"
    same "$name: one line" 1 "$(wc -l <err)"
    check "$name: it says '$text'" grep -qF -- "$text" err
    check "$name: nothing changed" cmp -s <(without_time a.img) <(without_time before.img)
}

# ---- One image

status "create" 0 disk create a.img 8M
check "a.img is sound" sound a.img
same "the label" "a" "$(dumpe2fs -h a.img 2>&1 | sed -n 's/^Filesystem volume name: *//p')"
refused "create where an image is" 1 "already exists" create a.img 8M
printf 'some text\n' >text
head -c 3000000 /dev/urandom >large
status "put" 0 disk put text a.img:/text
status "put a large file" 0 disk put large a.img:/large
status "mkdir" 0 disk mkdir a.img:/dir
status "put into a directory" 0 disk put - a.img:/dir/input <text
check "a.img is sound after put" sound a.img
for file in text large dir/input; do
    debugfs -R "dump /$file got" a.img 2>/dev/null
    case $file in large) cmp -s got large ;; *) cmp -s got text ;; esac
    same "debugfs reads $file" 0 $?
    disk get "a.img:/$file" got2 && cmp -s got got2
    same "get $file" 0 $?
done
same "get to the output" "some text" "$(disk get a.img:/text -)"
(mkdir here && cd here && disk get ../a.img:/dir/input && cmp -s input ../text)
same "get under its own name" 0 $?
status "ls" 0 disk ls a.img:/
same "ls names all" "dir large lost+found text" "$(awk '{ print $NF }' out | sort | xargs)"
status "stat" 0 disk stat a.img:/large
check "stat tells the size" grep -q '^bytes *3000000$' out

status "put replaces" 0 disk put large a.img:/text
check "a.img is sound after that" sound a.img
same "the new contents" 0 "$(disk get a.img:/text - | cmp -s - large; echo $?)"
debugfs -w -R "ln /text /second" a.img 2>/dev/null
debugfs -w -R "sif /text links_count 2" a.img 2>/dev/null
status "rm of one of two names" 0 disk rm a.img:/text
check "a.img is sound with the other name" sound a.img
same "the contents stay" 0 "$(disk get a.img:/second - | cmp -s - large; echo $?)"
debugfs -w -R "symlink /link /dir" a.img 2>/dev/null
same "a link is followed" "some text" "$(disk get a.img:/link/input -)"
status "rm removes the link" 0 disk rm a.img:/link
check "and not where it leads" disk stat a.img:/dir >stat.out
refused "rm of a full directory" 1 "Directory not empty" rm a.img:/dir
refused "rm of the root" 1 "has no name" rm a.img:/
status "put over a directory" 1 disk put text a.img:/dir
check "it says so" grep -q "not a regular file" err
check "a.img is sound after that" sound a.img
status "put into nothing" 1 disk put text a.img:/none/text
same "it says so" "ncube: a.img: /none/: No such file or directory" "$(cat err)"
check "a.img is sound after that, too" sound a.img
refused "get of nothing" 1 "No such file" get a.img:/none out.none
refused "get of a directory" 1 "not a regular file" get a.img:/dir out.none
check "no file is left" test ! -e out.none
refused "mkdir of what is there" 1 "exists" mkdir a.img:/dir
status "rm" 0 disk rm a.img:/dir/input a.img:/dir a.img:/second a.img:/large
check "a.img is sound and empty" sound a.img
same "nothing but lost+found" "lost+found" "$(disk ls a.img:/ | awk '{ print $NF }')"

# Many names: the directory grows; then all of them are removed.
: >empty
for i in $(seq 100); do disk put empty "a.img:/a-rather-long-name-for-a-file-without-contents-$i" || break; done
same "100 files" 101 "$(disk ls a.img:/ | wc -l)"
check "a.img is sound with them" sound a.img
seq 100 | sed 's|^|a.img:/a-rather-long-name-for-a-file-without-contents-|' | xargs "$ncube" disk rm
check "a.img is sound without them" sound a.img

# A full image: the new file is missing, everything else is intact.
head -c 9000000 /dev/zero | tr '\0' x >larger
status "put of more than fits" 1 disk put larger a.img:/larger
same "it says why" "ncube: a.img: No space left on device" "$(cat err)"
check "a.img is sound after that" sound a.img
check "the file is not there" test "$(disk ls a.img:/ | wc -l)" = 1

# Every block size, and an image that another program made.
for block in 1K 2K 4K; do
    status "create --block=$block" 0 disk create --block=$block --label=vol "b$block.img" 2M
    check "put with $block" disk put text "b$block.img:/text"
    check "sound with $block" sound "b$block.img"
done
if mke2fs -q -t ext2 -r 0 -b 1024 old.img 1M >/dev/null 2>&1; then # newer ones no longer do
    check "put into revision 0" disk put text old.img:/text
    check "revision 0 is sound" sound old.img
fi

# ---- Images that must not change

exec 9<a.img
flock -x 9
for words in "put text a.img:/x" "ls a.img:/" "fsck a.img" "rm a.img:/lost+found"; do
    # shellcheck disable=SC2086
    refused "in use: $words" 1 "in use by another ncube" $words
done
exec 9<&-
debugfs -w -R "ssv state 0" a.img 2>/dev/null
refused "not clean" 1 "not clean; \"ncube disk fsck a.img\" repairs it" put text a.img:/x
status "fsck" 0 disk fsck a.img
check "a.img is clean again" sound a.img
cp text not.img
for image in not.img none.img . /dev/null; do
    status "ls $image" 1 disk ls "$image:/"
    same "ls $image: one line" 1 "$(wc -l <err)"
done
head -c 1048576 /dev/urandom >noise.img
dd if=a.img of=noise.img bs=1024 skip=1 seek=1 count=1 conv=notrunc 2>/dev/null
status "a damaged image" 1 disk ls noise.img:/lost+found/x
same "one line" 1 "$(wc -l <err)"
check "no file is left over" test -z "$(find . -name '*.new' -o -name '*.??????')"

# A host whose disk is full: one line of error, and no incomplete file.
(ulimit -f 100; trap '' XFSZ; disk put large a.img:/large) 2>err
check "a limit on files is told" test -s err
disk fsck a.img >/dev/null
check "put works again" disk put large a.img:/large
(ulimit -f 100; trap '' XFSZ; disk get a.img:/large cut) 2>err
same "a cut copy" "ncube: cut: File too large" "$(cat err)"
check "is not there" test ! -e cut

# Killed in the middle of a copy: e2fsck repairs the image by itself, and what had the name before is still there.
disk put text a.img:/text
mkfifo pipe
for signal in KILL INT; do
    env --default-signal=INT "$ncube" disk put pipe a.img:/text & # not disk, whose process would be a shell's
    put=$!
    exec 8>pipe
    head -c 1000000 /dev/urandom >&8
    until dumpe2fs -h a.img 2>&1 | grep -q '^Filesystem state: *not clean$'; do kill -0 $put || break; done
    kill -$signal $put
    wait $put 2>/dev/null
    exec 8>&-
    status "put is killed by $signal: what comes next" 1 disk put text a.img:/next
    check "it is told that the image is not clean" grep -q 'not clean' err
    status "fsck repairs it" 0 disk fsck a.img
    check "a.img is sound after that" sound a.img
    same "the file that was there" "some text" "$(disk get a.img:/text -)"
done 2>/dev/null

# ---- Damaged images that are marked clean: refused before a byte changes, or e2fsck finds nothing afterwards

flip() { # FILE AT BYTE: stores one byte
    printf "\\x$(printf %02x "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
head -c 90000 /dev/urandom >few
for block in 1024 4096; do
    mke2fs -q -F -t ext2 -b $block good.img 20M >/dev/null
    for i in 1 2 3 4; do disk put few good.img:/f$i; done
    disk mkdir good.img:/d
    disk rm good.img:/f2
    descriptors=$((block == 1024 ? 2048 : 4096))
    groups=$(dumpe2fs good.img 2>/dev/null | grep -c '^Group ')
    bitmaps=($(dumpe2fs good.img 2>/dev/null | sed -n 's/.*[bB]itmap at \([0-9]*\).*[bB]itmap at \([0-9]*\).*/\1 \2/p
        t; s/.*[bB]itmap at \([0-9]*\).*/\1/p'))
    for which in 3 7 11 13 15 17 19; do # the places of bitmaps and tables, the counts, the flags
        cp good.img a.img
        flip a.img $((descriptors + which)) 199
        [ $which = 19 ] || for words in "put few a.img:/new" "mkdir a.img:/new" "rm a.img:/f1"; do
            # shellcheck disable=SC2086
            refused "byte $which of a descriptor, blocks of $block: $words" 1 "run e2fsck a.img" $words
            same "it differs in no byte at all" "" "$(cmp a.img before.img)"
        done
    done
    for at in "${bitmaps[@]}"; do
        cp good.img a.img
        dd if=/dev/zero of=a.img bs=$block seek="$at" count=1 conv=notrunc status=none
        refused "a bitmap of zeros at $at, blocks of $block" 1 "run e2fsck a.img" put few a.img:/new
    done
    RANDOM=$block
    wrong=0
    for _ in $(seq 60); do
        cp good.img a.img
        at=$((bitmaps[RANDOM % ${#bitmaps[@]}] * block + RANDOM % 300))
        [ $((RANDOM % 2)) = 0 ] && at=$((descriptors + RANDOM % (32 * groups)))
        flip a.img $at $((RANDOM % 256))
        cp a.img before.img
        if disk put few a.img:/f1 2>err; then
            e2fsck -fn a.img >fsck.out 2>&1 || { wrong=$((wrong + 1)); echo "byte $at: taken, and not sound" >&2; }
        else
            cmp -s a.img before.img || { wrong=$((wrong + 1)); echo "byte $at: refused, and changed" >&2; }
        fi
    done
    same "random damage, blocks of $block" 0 $wrong
done
head -c 1000000 good.img >a.img
refused "an image that was cut off" 1 "damaged; copy the image, then run e2fsck" put few a.img:/new
for feature in bigalloc,extent mmp,^extent huge_file metadata_csum 64bit,extent flex_bg quota; do
    mke2fs -q -F -t ext2 -O $feature a.img 8M >/dev/null 2>&1
    first=${feature%%,*}
    [ $first = 64bit ] || [ $first = bigalloc ] && first=extent
    refused "the feature $feature" 1 "a.img: has the feature $first, which ext2 does not have" put few a.img:/x
done

# ---- A name that ends in a slash is a directory's

cp good.img a.img
refused "put to a name with a slash" 1 "/trail/: Is a directory" put few a.img:/trail/
refused "put to a file's name with a slash" 1 "/f1/: Is a directory" put few a.img:/f1/
refused "get of a file's name with a slash" 1 "/f1/: Not a directory" get a.img:/f1/ got
refused "rm of a file's name with a slash" 1 "/f1/: Not a directory" rm a.img:/f1/
status "mkdir with a slash" 0 disk mkdir a.img:/with/
status "ls with a slash" 0 disk ls a.img:/with/
status "rm of a directory with a slash" 0 disk rm a.img:/with/
check "a.img is sound after all that" sound a.img

# ---- PIO files

status "all images of a machine" 0 disk create -m "$sandia" --images disks 4M
same "all eight are told" "8 images made, 0 there before" "$(tail -n 1 out)"
rm disks/df03.img
status "one that is missing" 0 disk create -m "$sandia" --images disks 4M
same "and only it is made" "1 image made, 7 there before" "$(tail -n 1 out)"
same "the label is the volume" "df03" "$(dumpe2fs -h disks/df03.img 2>&1 | sed -n 's/^Filesystem volume name: *//p')"
pio() { disk "$@" -m "$sandia" --images disks; }
cat >pio.c <<'END'
#include <fcntl.h>
#include <pio.h>
#include <stdio.h>
#include <string.h>
static char part[100000];
int main(int argc, char **argv)
{
    int in = pio_open("/host", O_RDONLY), out = pio_open("/node", O_WRONLY | O_CREAT, 0644);
    ssize_t n, all = 0;
    while ((n = pio_read(in, part, sizeof part)) > 0)
        all += pio_write(out, part, (size_t)n);
    printf("%zd\n", all);
    return pio_close(in) | pio_close(out);
}
END
"$build/bin/ncc" -o pio pio.c 2>/dev/null
status "put a PIO file" 0 pio put large pio:/host
same "a node copies it" 3000000 "$("$ncube" run -m "$sandia" --images disks -d 0 ./pio)"
status "get what the node wrote" 0 pio get pio:/node got
check "it is the same" cmp -s got large
status "put to a PIO file's name with a slash" 1 pio put text pio:/trail/
same "it says so" "ncube: pio:/trail/: Is a directory" "$(cat err)"
status "stat of a PIO file" 0 pio stat pio:/node
check "with its size" grep -q '^bytes *3000000$' out
sed -i 's|pio_open("/node", O_WRONLY . O_CREAT, 0644)|pio_open_layout("/mapped", O_WRONLY \| O_CREAT, 0644, \&layout)|
    s|int in = |struct pio_layout layout = {.map = "array 1000x3000x1 block,block on 2x4"}; int in = |' pio.c
"$build/bin/ncc" -o pio pio.c 2>/dev/null
same "a node copies it to a file with a map" 3000000 "$("$ncube" run -m "$sandia" --images disks -d 0 ./pio)"
status "get a file with a map" 0 pio get pio:/mapped got
check "it is the same, too" cmp -s got large
check "stat shows the map" eval 'pio stat pio:/mapped | grep -q "^map *array"'
status "a subfile" 0 pio stat //df02/node
status "rm of a PIO file" 0 pio rm pio:/node
status "and it is gone" 1 pio get pio:/node got
for i in 0 1 2 3 4 5 6 7; do sound disks/df0$i.img || echo df0$i; done >unsound
check "all images are sound" test ! -s unsound
pio put text pio:/small
pio put large //df01/small.pio
status "a volume that says something else" 1 pio get pio:/small got
check "is named" grep -q 'small.pio' err
mv disks/df05.img disks/away.img
status "an image that is missing" 1 pio get pio:/host got
check "it is named" grep -q df05.img err
status "fsck names it, too" 1 pio fsck
check "by its name" grep -q df05.img err
mv disks/away.img disks/df05.img

# ---- Striped volumes: plain names for files over several volumes

cp "$sandia" striped.conf
cat >>striped.conf <<'END'
striped = ({ volume = "big"; over = ["df03", "df01"]; map = "cyclic 1000 2"; },
           { volume = "odd"; over = ["df02", "df00", "df05"]; map = "array 30x90x1 *,cyclic(7) on 1x3"; });
END
striped() { disk "$1" -m striped.conf --images striped "${@:2}"; }
status "a machine with striped volumes" 0 striped create 2M
status "a folder of one" 0 striped mkdir //big/d
status "put to one" 0 striped put large //big/d/x
status "and to one with another map" 0 striped put large //odd/y
striped ls //big/d >list
same "ls shows the whole file and no description" "$(stat -c %s large) x" "$(awk '{ print $2, $NF }' list)"
check "stat shows the volumes in order" eval 'striped stat //big/d/x | grep -q "^volumes  df03 df01$"'
check "the part is on the second volume" eval 'striped get //df01/d/x - | cmp -s - \
    <(for i in $(seq 1 2 $(($(stat -c %s large) / 1000))); do tail -c +$((i * 1000 + 1)) large | head -c 1000; done)'
status "get from it" 0 striped get //odd/y got
check "the same bytes" cmp large got
status "names of both and of a drive" 0 striped rm //odd/y //big/d/x //df01/d
same "nothing is left" "" "$(striped ls //big/ | grep -v 'lost+found\| d$')"
status "a folder that is not there" 1 striped ls //big/none
status "fsck finds all sound" 0 striped fsck

# ---- Wrong command lines

for words in "" "make" "ls" "ls a.img" "ls :/x" "ls a.img:/ b" "put text" "get" "rm" "fsck" "create a.img" \
    "create a.img 1K" "create --block=3K c.img 1M" "create c.img 0" "ls pio:/x" "ls //df00/" "stat -m $sandia //df99/" \
    "-x" "ls -m $sandia pio:/" "create --block=2M c.img 8M"; do
    # shellcheck disable=SC2086
    status "disk $words" 2 disk $words
    same "disk $words: one line" 1 "$(wc -l <err)"
done
status "a machine file that is missing" 1 disk fsck -m none.conf
status "a label that is too long" 1 disk create --label=12345678901234567 c.img 1M
check "no image is left" test ! -e c.img

finish
