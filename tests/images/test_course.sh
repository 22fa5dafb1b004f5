#!/bin/bash
# The course (docs/course): its solutions are right; the programs to complete, and typical mistakes in the solutions,
# are found, and told in words. BUILD is the argument.
set -u
cd "$(dirname "$0")/../.."
. tests/shell.sh
course=$(readlink -f docs/course)
build=$(readlink -f "$1")
course_check=$build/bin/ncube-course
cd "$scratch" || exit 1

# What is checked, one a line: a name, the exercise, the file, and what the verdict has. Each version draws a half of
# the mistakes.
long_names='s/BARRIER/MPI_Barrier(MPI_COMM_WORLD)/; s/NOBODY/MPI_STATUS_IGNORE/
    s/GET(partner/MPI_Recv(in[partner], INTS, MPI_INT, partner, 0, MPI_COMM_WORLD/'
list() {
    local n file program name edit verdict i=0
    for n in 1 2 3 4 5 6 7 8; do
        file=$(echo "$course"/solutions/$n-*.c)
        echo "$n-solution|$n|$file|: right"
    done
    while IFS='|' read -r n name edit verdict; do
        [ -n "$n" ] || continue
        [ "$edit" = unchanged ] || drawn $((i++)) 2 || continue
        file=$(echo "$course"/solutions/"$n"-*.c)
        program=$(echo "$course"/programs/"$n"-*.c)
        if [ "$edit" = unchanged ]; then
            echo "$n-$name|$n|$program|$verdict"
        else
            sed "$edit; $long_names" "$file" >"$n-$name.c"
            cmp -s "$file" "$n-$name.c" && verdict="the edit changes nothing"
            echo "$n-$name|$n|$scratch/$n-$name.c|$verdict"
        fi
    done <<'MISTAKES'
1|one-by-one|unchanged|slower than the bound
1|all-receive|s/(rank & bit)/(rank % bit)/|node 14 waits in MPI_Recv from 15, tag 0
1|forgets|s/value += other/value = other/|prints sum=16, and right is sum=136
2|no-gray-code|s/periods, 1, &grid/periods, 0, \&grid/|slower than the bound
2|receives-first|s/MPI_Irecv(side\[2 \* d\],\(.*\), &req.*/MPI_Recv(side[2 * d],\1, NOBODY);/|waits in MPI_Recv from
2|one-buffer-twice|s/side\[2 \* d + 1\]/side[2 * d]/|the result is wrong
3|no-tag|unchanged|arguments 3 the result is wrong
3|barriers|s/i = 1; i < size/i = (BARRIER, 1); i < size/; s/int result = result/BARRIER; &/|slower than
3|one-too-many|s/i = 1; i < size/i = 0; i < size/|node 0 waits in MPI_Recv from any
4|each-for-itself|unchanged|the drive of df00 was busy
4|all-at-one-place|s/(MPI_Offset)(rank \* sizeof(int))/0/|prints wrong=
4|without-rank-0|s/MPI_File_write_all/if (rank > 0) &/|waits in MPI_File_write_all
5|one-makes-all|unchanged|1/20 of the first run's
5|drops-the-rest|s/end = (int).*;/end = first + ENTRIES \/ size;/|the result is wrong
5|many-roots|s/MPI_SUM, 0,/MPI_SUM, rank,/|waits in MPI_Reduce, root
6|same-order|unchanged|messages waited for the channel
6|receives-first|s/int partner = rank ^ k;/& GET(partner, NOBODY);/|waits in MPI_Recv from
6|wrong-place|s/in\[partner\], INTS/in[k], INTS/|prints wrong=
7|one-after-the-other|unchanged|slower than the bound
7|no-wait|s/MPI_Waitall(.*);/;/|the result is wrong
7|other-tag|s/MPI_DOUBLE, right, step/&  + 1/|waits in MPI_Waitall
8|equal-numbers|unchanged|node 7 computed
8|no-stop|s/status.MPI_SOURCE, TAG_STOP/MPI_PROC_NULL, TAG_STOP/|waits in MPI_Recv from 0
8|one-too-many|s/next = TASKS - 1/next = TASKS/|prints sum=
MISTAKES
}

one() { # NAME|EXERCISE|FILE|VERDICT: writes NAME.verdict and NAME.status
    local name number file verdict
    IFS='|' read -r name number file verdict <<<"$1"
    "$course_check" check "$number" "$file" >"$name.verdict" 2>&1
    echo $? >"$name.status"
}
export -f one
export course_check

list >cases
xargs -d '\n' -P 2 -I LINE bash -c 'one "$1"' one LINE <cases
while IFS='|' read -r name number file verdict; do
    check "$name: $verdict" grep -qF -- "$verdict" "$name.verdict" || cat "$name.verdict" >&2
    same "$name: status" "$([ "$verdict" = ": right" ]; echo $?)" "$(cat "$name.status")"
done <cases

echo 'int main(void) { return MPI_SUCCESS }' >bad.c
status "what does not compile" 1 "$course_check" check 1 bad.c
check "and the compiler's line" grep -q "bad.c:1" out
status "no such exercise" 2 "$course_check" check 9 bad.c
same "all are listed" 8 "$("$course_check" list | wc -l)"

# What the pages of exercises 3 and 4 say beside
export PATH=$build/bin:$PATH
race=$build/course/3-race
status "a recording" 0 ncube run -n 8 --record=race.rec "$race" 3
status "it is repeated" 0 ncube replay --report=race.html race.rec
check "with a report of the call" grep -q "MPI_Recv" race.html
status "images for a file" 0 ncube disk create -m tiny --images disks 1M
status "the file" 0 ncube run -d 2 -m tiny --images disks --stats "$build/course/4-files-solved" //df00/matrix
finish
