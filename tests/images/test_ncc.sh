#!/bin/bash
# ncc: its use of gcc's options, and its errors. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncc=$build/bin/ncc
readelf=riscv64-unknown-elf-readelf
old=$(dirname "$(readlink -f "$0")")/old
cd "$scratch" || exit 1

cat >hello.c <<END
#include <stdio.h>
#ifndef GREETING
#define GREETING "hello"
#endif
int main(void) { return puts(GREETING) < 0; }
END
cat >twice.c <<END
int twice(int n) { return 2 * n; }
END
cat >uses_twice.c <<END
int twice(int n);
int main(void) { return twice(3); }
END
cat >calls.c <<END
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <n_errno.h>
#include <nio.h>
#include <nmon.h>
#include <npara_prt.h>
#include <nself.h>
#include <ntime.h>
#include <rexec.h>
#include <rk.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stropts.h>
#include <sysn.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
_Static_assert(sizeof(off_t) == 8 && sizeof(ino_t) == 8 && sizeof(dev_t) == 4, "as wide as the file system");
#define USE(f) (void *)(f)
void *used[] = {
    USE(whoami), USE(npid), USE(nwrite), USE(nread), USE(ntest), USE(nrange), USE(nsync),
    USE(readstart), USE(preadstart), USE(readend), USE(writestart), USE(pwritestart), USE(writeend), USE(ionode),
    USE(nmonitor),
    USE(amicclk), USE(n_time), USE(ntime), USE(nperror), USE(n_strerror),
    USE(open), USE(creat), USE(close), USE(read), USE(write), USE(lseek), USE(fstat), USE(stat),
    USE(ftruncate), USE(unlink), USE(rename), USE(link), USE(mkdir), USE(rmdir), USE(access), USE(isatty),
    USE(opendir), USE(readdir), USE(closedir), USE(rewinddir), USE(telldir), USE(seekdir), USE(dirfd),
    USE(gettimeofday), USE(time), USE(times), USE(clock), USE(sbrk), USE(_exit), USE(kill), USE(signal),
    USE(raise), USE(abort), USE(getpid), USE(fsync), USE(malloc), USE(printf), USE(scanf), USE(fopen),
    USE(nredist), USE(getmsg), USE(putmsg), USE(ndomain), USE(xmalloc), USE(xfree), USE(xlength), USE(xsend),
    USE(xmsend), USE(xrecv), USE(xrecvb), USE(mynode), USE(mypid), USE(nnodes),
    USE(sin), USE(ngetp), USE(nwritep), USE(nreadp), USE(nrelp), USE(nglobal), USE(nlocal), USE(pread), USE(pwrite),
    USE(sleep), USE(usleep), USE(nanosleep), USE(clock_gettime), USE(pause), USE(sigaction), USE(sigprocmask),
    USE(sigpending), USE(sigsuspend), USE(sigwait), USE(sigwaitinfo), USE(sigtimedwait), USE(pthread_sigmask),
    USE(statfs), USE(fstatfs), USE(getopt), USE(qsort), USE(nfailed), USE(iochannel),
    USE(ncubesize), USE(isumn), USE(imaxn), USE(iminn), USE(dsumn), USE(dmaxn), USE(dminn), USE(nbrdcst),
    USE(rexecv), USE(rexecl), USE(rwait), USE(execv), USE(execl), USE(execve),
};
int main(int argc, char **argv) { return used[argc] == argv; }
END
echo 'int main(void) { return x; }' >broken.c
echo 'int main(void) { int unused; return 0; }' >warned.c
echo 'int main() { return 0; }' >program.cpp

field() { # FILE PATTERN: the lines of the program headers
    $readelf -lhW "$1" | grep -E "$2" | sed 's/  */ /g'
}

check "compiles and links" $ncc -o hello hello.c
# Programs as they were written at the time: no prototypes, types left out. gcc may warn.
for program in cg md; do
    check "compiles $program of before ANSI C" $ncc -w -O -o $program "$old/$program.c" "$old/layer.c" -lm
done
old_says() { # PROGRAM DIM TEXT
    [ "$("$build/bin/ncube" run -d "$2" "./$1")" = "$3" ]
}
for dim in 0 3; do
    check "a sparse solver of then converges on 2^$dim nodes" old_says cg $dim "converged, |x| 1481.682147, in time"
    check "molecules of then keep their energy on 2^$dim nodes" old_says md $dim "energy kept"
done

# The vendor's calls without header or prototype, as they were called then
cat >vendor.c <<'END'
double dsumn(), dmaxn(), dminn();
void nbrdcst();
main()
{
    int node, proc, host, dim, n, type = 0xfd01, flag, direction = 0, other, isum, imax, imin;
    double x, y, dsum, dmax, dmin;

    whoami(&node, &proc, &host, &dim);
    n = ncubesize();
    if (node == 0)
        direction = dim - 1;
    nbrdcst(&direction, sizeof(direction));
    x = node + 0.5;
    other = node ^ 1 << direction;
    if (nwrite(&x, sizeof x, other, type, &flag) != 0 || nread(&y, sizeof y, &other, &type, &flag) < 0 ||
        y != other + 0.5)
        nperror("");
    isum = isumn(1);
    imax = imaxn(node);
    imin = iminn(node);
    dsum = dsumn(x);
    dmax = dmaxn(x);
    dmin = dminn(x);
    if (node == n - 1) {
        printf("%d %d %d %.1f %.1f %.1f\n", isum, imax, imin, dsum, dmax, dmin);
        fflush(stdout);
        if (nwrite(&x, sizeof x, n, type, &flag) != 0)
            nperror("");
    }
    exit(0);
}
END
check "compiles the vendor's global operations without prototypes" $ncc -w -include stdio.h -o vendor vendor.c
same "which give what they gave" "8 7 0 32.0 7.5 0.5
invalid argument" "$("$build/bin/ncube" run -d 3 ./vendor 2>&1)"

check "to an executable for RISC-V" eval 'field hello Machine: | grep -q RISC-V'
same "entered where programs begin" " Entry point address: 0x10000" "$(field hello "Entry point")"
same "text, and that of drivers, is not writable, data not executable" "R E,R E,R E,R E,R E,RW," \
    "$(field hello LOAD | sed 's/.*0x[0-9a-f]* \(R.*\) 0x1000$/\1/' | tr '\n' ',')"
# Drivers have one copy of the mapping engine, in a segment that each of them needs (images/program.ld). Sizes in bytes:
# text and constants of hello, then of engine, striped, pipes and cfs, with a tenth more than gcc 12 makes of them.
segment() { # PROGRAM NUMBER
    echo $(($($readelf -lW "$1" | awk -v n="$2" '$1 == "LOAD" && $7 == "R" && ++k == n { print $5 }')))
}
i=0
for most in 75300 39300 35100 12700 10700; do
    i=$((i + 1))
    bytes=$(segment hello $i)
    check "segment $i of hello: $bytes of $most bytes" test "$bytes" -le $most
done
symbols() { riscv64-unknown-elf-nm "$1" | grep -c "[ _]$2\$"; }
for name in falls_rank plan_make plan_file plan_project pattern_parse; do
    same "$name is there once" 1 "$(symbols hello $name)"
done
echo 'int main(void) { return 3; }' >three.c
check "a program of nothing" $ncc -o three three.c
check "is small" test "$(segment three 1)" -le 19000
same "on pages of their own" "" "$(field hello LOAD | awk '{ if ($3 !~ /000$/) print }')"
check "the stack is not executable" eval 'field hello GNU_STACK | grep -q " RW "'
check "a.out by default" eval '$ncc hello.c && [ -e a.out ]'
check "without writing elsewhere" eval '[ -z "$(ls *.o *.d 2>/dev/null)" ]'
check "every call is there" $ncc -o calls calls.c -lm
check "and with -O2 -Wall -Werror" $ncc -O2 -Wall -Werror -o calls calls.c -lm

echo 'void abort(void) { for (;;); } int main(void) { abort(); }' >own_abort.c
check "a program may have an abort of its own" $ncc -w -o own_abort own_abort.c

check "-c, without a word" eval '[ -z "$($ncc -c twice.c 2>&1)" ] && [ -e twice.o ]'
check "objects and sources together" $ncc -o both uses_twice.c twice.o
check "several sources" $ncc uses_twice.c twice.c -o both
check "-D" eval '$ncc -DGREETING=\"good-day\" hello.c -o day && grep -q good-day day'
check "-D with its operand apart" eval '$ncc -D GREETING=\"evening\" hello.c -o evening && grep -q evening evening'
check "-S" eval '$ncc -S twice.c && grep -q "^twice:" twice.s'
check "-E" eval '$ncc -E hello.c | grep -q puts'
check "from the standard input" eval '$ncc -xc - -o piped <hello.c'
cat >names.c <<END
#if defined ncube && defined NCUBE
int main(void) { return ncube + NCUBE; }
#endif
END
while read -r flags; do
    check "ncube and NCUBE are defined: $flags" $ncc $flags -c names.c
    check "as 1: $flags" eval '[ "$($ncc $flags -E names.c | grep -c "return 1 + 1")" = 1 ]'
done <<END
-w
-std=gnu89
-std=gnu11
-std=c99 -std=gnu99
END
for flags in -std=c99 -std=c11 -ansi -std=iso9899:1990 "-std=gnu99 -std=c99"; do
    check "but not by a standard's C: $flags" eval '[ "$($ncc $flags -E names.c | grep -c return)" = 0 ]'
done
check "an option's operand is no standard" eval '$ncc -D ansi -E names.c | grep -q return'
same "--help tells our options first" "ncc: -Nstack -Nheap -Ncomm -Nprocs -Nserves -dN Usage:" \
    "$(echo $($ncc --help | sed -n 's/^\(ncc:\|Usage:\) .*/\1/p; s/^  \(-N[a-z]*\|-dN\) .*/\1/p'))"
check "nar and nranlib" eval '$ncc -c twice.c && "$build/bin/nar" rc libtwice.a twice.o &&
    "$build/bin/nranlib" libtwice.a && $ncc uses_twice.c -L. -ltwice -o both'
check "main in an archive" eval 'echo "int main(void) { return 0; }" >main.c && $ncc -c main.c &&
    "$build/bin/nar" rc libmain.a main.o && $ncc libmain.a -o from_archive && $ncc -L. -lmain -o from_archive'
cat >libraries.c <<END
#include <math.h>
#include <pio.h>
int main(int argc, char **argv) { return pio_open(argv[0], 0) + (int)pow(argc, 2); }
END
check "libraries are linked without a word" $ncc libraries.c -o libraries
check "and may be named" $ncc libraries.c -o libraries -lpio -lm
check "names of other systems' libraries, in any order" $ncc libraries.c -o named -lmpi -lcfs -lpio -lcstar -lm
check "they add nothing" cmp libraries named
for name in cfs clf mpi cstar; do
    check "-l$name alone" $ncc hello.c -o hello -l$name
    same "lib$name.a is empty" "" "$("$build/bin/nar" t "$build/lib/lib$name.a" 2>&1)"
done
check "-lpio" eval '[ ! -e "$build/lib/libpio.a" ] || $ncc hello.c -o hello -lpio'
check "through a symbolic link" eval 'ln -s "$ncc" link && ./link -o hello hello.c'
check "--version without an input" eval '$ncc --version | grep -q riscv64'

fails() { # NAME PATTERN COMMAND...: exit status not 0, and the message matches
    local name=$1 pattern=$2
    shift 2
    if "$@" >out 2>&1; then
        same "$name" "an exit status other than 0" 0
    else
        check "$name" grep -q -e "$pattern" out
    fi
}

note() { # the description of the note: sizes of stack, heap and message memory; processes, dimension + 1
    $readelf -nW "$1" | sed -n 's/.*description data: //p' | tr -d ' '
}

check "-Nstack and so on" $ncc -Nstack 64K -Nheap=2M -Ncomm 4096 -Nprocs 3 -d5 -o sized hello.c
same "are in a note" "$(printf '%s' 0000010000000000 0000200000000000 0010000000000000 03000000 06000000)" \
    "$(note sized)"
check "-Nserves" $ncc hello.c -Nserves -o serves
same "is there, too" "$(printf '0%.0s' $(seq 48))0000010000000000" "$(note serves)"
same "which is zero without them" "$(printf '0%.0s' $(seq 64))" "$(note hello)"
fails "a size that is none" "^ncc: -Nheap lots: give a size" $ncc -Nheap lots hello.c
fails "no size" "^ncc: -Ncomm : give a size" $ncc hello.c -Ncomm
fails "too many processes" "^ncc: -Nprocs 9: a node has 1 to 8" $ncc -Nprocs 9 hello.c
fails "an unknown -N" "^ncc: -Nfoo: unknown" $ncc -Nfoo 1 hello.c

fails "a dimension that no machine has is refused" "-d14: a subcube has dimension 0 to 13" $ncc -d14 -o hello14 hello.c
fails "a wrong program is refused" "broken.c:1:" $ncc -o broken broken.c
check "and leaves nothing" eval '[ ! -e broken ]'
fails "-Werror" "unused" $ncc -Wall -Werror warned.c
fails "a file that is not there" "nothing.c" $ncc nothing.c
fails "a function that is not there" "twice" $ncc uses_twice.c
fails "no input" "no input files" $ncc
fails "an operand is not an input" "no input files" $ncc -D hello.c -o hello
fails "-fsanitize=undefined" "^ncc: -fsanitize=undefined: .* add -fsanitize-undefined-trap-on-error" \
    $ncc -fsanitize=undefined hello.c
fails "-fsanitize=address" "^ncc: -fsanitize=address: the nodes have no library for it" $ncc -fsanitize=address hello.c
check "-fsanitize=undefined that traps" $ncc -fsanitize=undefined -fsanitize-undefined-trap-on-error hello.c -o trapping
fails "-shared" "^ncc: -shared: the nodes have only static programs" $ncc -shared hello.c
fails "C++" "^ncc: program.cpp: C only" $ncc program.cpp
mkdir -p moved/bin
sed "s|^newlib=.*|newlib='/nowhere'|" "$ncc" >moved/bin/ncc
fails "newlib's cache is gone" "^ncc: newlib is no longer in /nowhere; run \"make\"" sh moved/bin/ncc hello.c

finish
