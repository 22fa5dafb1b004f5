#!/bin/bash
# gdb on the machine: gdb is driven by commands, and its output judged. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/gdb.sh"

source=$(readlink -f "$(dirname "$0")/../guest/debugged.c")
begin_suite "gdb on the machine" "$1"

line_of() { # the number of the line of the program that contains the text
    grep -nF "$1" "$source" | head -n 1 | cut -d: -f1
}

# begin OPTION... -- WORD...: starts the program under ncube and waits until it waits for gdb. Sets run and port.
begin() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    begin_gdb run --gdb "${options[@]}" "$debugged" "$@"
}

# ---- Breakpoints on all nodes and on one, backtraces, values

begin -d 2 --
gdb 'info threads' 'break work' 'continue' 'backtrace' 'continue' 'info threads' 'print node' 'finish' 'print here' \
    'print here.x' 'step' 'info breakpoints' 'delete' 'continue'
end "breakpoints" 0 "sum 6"
says "at first the program's first node is at its entry" '^\* 1 +Thread 1 "node 0" \(runs\) +_start'
says "a breakpoint on all nodes" '^Thread 1 "node 0" hit Breakpoint 1, work \(node=0\)'
says "a backtrace" "^#1 .* in main .* at .*debugged.c:$(line_of 'int result = work')"
says "the next one in virtual time" '^Thread 3 "node 2" hit Breakpoint 1, work \(node=2\)'
says "what the others do meanwhile" '^  1 +Thread 1 "node 0" \(waits in nread for a message of type 7 from any node\)'
says "finish" '^Value returned is \$2 = 2'
same "a struct" '$3 = {x = 2.5, node = 2}' "$(after 'print here')"
same "a double" '$4 = 2.5' "$(after 'print here.x')"
says "the end" 'exited normally'

begin -d 2 --
gdb 'break add thread 3' 'continue' 'backtrace' 'delete' 'watch total thread 3' 'continue' 'continue' 'delete' \
    'thread 1' 'backtrace' 'frame function collect' 'print nodes' 'continue'
end "one node" 0 "sum 6"
says "only that node stops" '^Thread 3 "node 2" hit Breakpoint 1, add \(k=2\)'
says "a watchpoint" '^Thread 3 "node 2" hit Hardware watchpoint 2: total'
same "its values" "Old value = 0 New value = 2 Old value = 2 New value = 6" \
    "$(grep -E '^(Old|New) value' gdb.out | xargs)"
says "a node that waits shows where" "^#2 .* in receive .* at .*debugged.c:$(line_of '    nread(')"
same "and its variables" '$1 = 4' "$(after 'print nodes')"

# gdb sends no packet for a breakpoint of its own where one with a condition is set.
begin -d 1 --
gdb 'break work if node == 1' 'continue' 'break add if k == 2' "break debugged.c:$(line_of 'return k * 2') if k == 3" \
    'next' 'next' 'next' 'step' 'print k' 'stepi' 'next' 'print total' 'continue' 'print k ' 'continue' 'print k  ' \
    'info breakpoints' 'delete' 'continue'
end "conditions" 0 "sum 1"
says "a condition" '^Thread 2 "node 1" hit Breakpoint 1, work \(node=1\)'
same "a step to a breakpoint that does not hold ends there" '$1 = 1' "$(after 'print k')"
same "and behind it" '$2 = 1' "$(after 'print total')"
same "then they stop where they hold" '$3 = 2 $4 = 3' "$(grep -E '^\$[34] =' gdb.out | xargs)"
same "ncube evaluates them" 3 "$(grep -c 'stop only if .* (target evals)' gdb.out)"

begin -d 2 --
gdb "break debugged.c:$(line_of 'if (strcmp(how, "stuck"')" 'continue' 'monitor queues' 'delete' 'continue'
end "queues" 0 "sum 6"

says "a message under way" \
    '^4 bytes of type 7 from node [123] to node 0, sent at 0\.[0-9]* s: (on its way|arriving)'

begin -d 1 --
gdb 'break receive' 'continue' 'next' 'watch value thread 1' 'continue' 'backtrace' 'continue'
end "what the kernel writes" 0 "sum 1"
same "is seen" "Old value = 0 New value = 1" "$(grep -E '^(Old|New) value' gdb.out | xargs)"
says "after the call" '^#[1-9] .* in receive \(wanted=7\)'

begin -d 3 --
cat >each <<'END'
while 1
continue
monitor time
end
END
gdb 'break add' 'source each'
end "stops in order" 0 "sum 28"
clocks=$(sed -n 's/^node [0-7] stands at .* (\([0-9]*\) cycles)$/\1/p' gdb.out)
same "each node stops three times" 24 "$(wc -l <<<"$clocks")"
same "in the order of virtual time" "$(sort -n <<<"$clocks" | xargs)" "$(xargs <<<"$clocks")"

# ---- What gdb may not do

begin -d 1 --
gdb 'print $a0 = 1' 'print add(3)' 'set var total = 5' 'print total' 'set var *(int *)$pc = 0' 'print *(int *)0' \
    'monitor time' 'monitor nodes' 'monitor nonsense' 'detach'
end "detach" 0 "sum 1"
says "registers are not written" "(E\.|reply ')registers cannot be written: QEMU's plugins only read them"
same "memory is" '$2 = 5' "$(after 'print total')"
says "text is not" '^Cannot access memory at address 0x1'
says "nor is there memory where there is none" '^Cannot access memory at address 0x0'
says "time" '^virtual time 0\.0[0-9]* s \([0-9]* cycles\)'
says "nodes" '^node 0 runs'
says "an unknown command of monitor" "^no monitor command 'nonsense'; try: monitor help"

# ---- There is no way back

no_way='^ncube: this run is not recorded, so there is no way back; ncube run --record=FILE'
begin --gdb-memory=0 -d 1 --
gdb 'break add' 'continue' 'reverse-continue' 'reverse-stepi' 'monitor origin' 'monitor when' 'monitor goto 0.01' \
    'print k' 'delete' 'continue'
end "no way back" 0 "sum 1"
same "each command says so" 5 "$(grep -cE "$no_way" gdb.out)"
same "gdb stays where it is" '$1 = 0' "$(after 'print k')"

# ---- Faults, deadlocks, interrupts, kill

begin -d 1 -- fault
gdb 'continue' 'backtrace' 'continue'
end "a fault" 1 "sum 1"
says "is a signal" '^Thread 2 "node 1" received signal SIGSEGV'
says "where it was" "^#0 .* in fault .* at .*debugged.c:$(line_of '(volatile int *)8')"
says "and then the program ends" 'exited with code 01'
check "with its line" grep -q 'store to an address that is not writable' run.err

begin -d 1 -- stuck
gdb 'continue' 'monitor nodes' 'thread 2' 'backtrace' 'continue'
end "a deadlock" 125 "sum 1"
says "gdb is told" '^ncube: deadlock: nothing more can happen'
says "who waits" '^nodes 0-1: each waits in nread for a message of type 9 from any node'
says "where" '^#2 .* in receive \(wanted=9\)'

begin -d 1 -- loop
gdb 'break main' 'continue' 'shell sleep 0.3' 'kill'
end "kill" 1 ""

# ---- gdb goes away, and comes back

begin -d 1 -- loop
timeout 60 gdb-multiarch -nx -batch -ex "target remote :$port" -ex continue "$debugged" >gdb.out 2>&1 &
gdb=$!
await grep -qs 'sum 1' run.out
kill -INT $(pgrep -P $gdb || echo $gdb)
wait $gdb
check "an interrupt stops the program" grep -q 'received signal SIGINT' gdb.out
gdb 'print turns > 0' 'backtrace' 'thread apply all print here' 'kill'
same "another gdb comes" '$1 = 1' "$(after 'print turns > 0')"
says "with all nodes" "= \{x = 1.5, node = 1\}"
end "an interrupt" 1 "sum 1"

begin -d 1 --
(
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf '$?#3f$Z0,10000,4#9' >&3 # in the middle of a packet
)
end "a gdb that goes away while the nodes are stopped" 0 "sum 1"

# ---- Steps of the stub's own: gdb makes steps of breakpoints, on RISC-V

begin -d 1 --
exec 3<>"/dev/tcp/127.0.0.1/$port"
same "at the entry" "T05thread:1;" "$(ask '?')"
same "its pc" "0000010000000000" "$(ask p20)"
same "a step" "T05thread:1;" "$(ask 'vCont;s:1;c')"
same "is one instruction" "0400010000000000" "$(ask p20)"
same "alone, too" "T05thread:1;" "$(ask 'vCont;s:1')"
same "is one instruction" "0800010000000000" "$(ask p20)"
same "out of a range" "T05thread:1;" "$(ask 'vCont;r10000,1000c:1;c')"
check "is not in it" [ "$(ask p20)" \> "0c" ]
same "an old packet" "T05thread:1;" "$(ask s)"
same "what is malformed" "E01" "$(ask 'vCont;s:1;q')"
same "detach" "OK" "$(ask D)"
exec 3>&-
end "steps" 0 "sum 1"

begin -d 1 --
kill -INT $run
end "a signal while gdb is awaited" 130 ""

# ---- Nothing changes

trace() { # OPTION...: a run with breakpoints that are passed, and watchpoints; the trace is in trace.gdb
    begin "$@" --trace=trace.gdb --
    gdb 'break add' 'ignore 1 1000' 'watch total' 'ignore 2 1000' 'break work if node > 100' 'continue' \
        'info breakpoints'
    end "a traced run" 0 "sum 28"
    says "they are passed" 'breakpoint already hit 24 times'
    says "the condition is false" 'exited normally'
}

cat >two.conf <<'END'
dim = 3;
nodes_per_cabinet = 4;
END
"$ncube" run -d 3 --trace=trace.plain "$debugged" >out
trace -d 3
check "there is a trace" [ "$(wc -l <trace.plain)" -gt 50 ]
check "breakpoints change nothing in the trace" cmp trace.plain trace.gdb
trace -d 3 --machine=two.conf
check "nor on two cabinets" cmp trace.plain trace.gdb

# Two processes on each node: user code sees where interrupts fall.
debugged=$build/guest/exact2
"$ncube" run -d 1 --trace=trace.plain "$debugged" all 17 >plain.out
begin -d 1 --trace=trace.gdb -- all 17
gdb 'break nwrite' 'ignore 1 100000' 'continue'
end "exact nodes" 0 "$(cat plain.out)"
check "nor where interrupts fall" cmp trace.plain trace.gdb
debugged=$build/guest/debugged

# ---- Nodes run ahead while nothing is set, and no longer once something is

cat >computes.c <<'END'
#include <nself.h>
#include <stdio.h>
static volatile int turns;
static __attribute__((noinline)) void turn(void)
{
    turns++;
}
int main(void)
{
    int node, process, host, dim, sum = 0;

    whoami(&node, &process, &host, &dim);
    for (int round = 0; node < 3 && round < 12; round++) {
        int from = (node + 2) % 3, type = 5;

        for (int i = 0; i < 9000 + 300 * node; i++)
            sum += i ^ turns;
        turn();
        nwrite((char *)&sum, sizeof sum, (node + 1) % 3, 5, NULL);
        nread((char *)&sum, sizeof sum, &from, &type, NULL);
    }
    return printf("%d: %d\n", node, sum) < 0;
}
END
"$build/bin/ncc" -g -O1 -o computes computes.c || exit 1
turn=$(riscv64-unknown-elf-nm computes | sed -n 's/ t turn$//p')
"$ncube" run -d 2 --trace=trace.plain ./computes >plain.out

go_on() { # without waiting for an answer
    printf '$vCont;c#a8' >&3
}

interrupt() {
    local reply
    printf '\003' >&3
    IFS= read -r -t 300 -d '#' reply <&3
    read -r -t 300 -N 2 <&3
    echo "${reply#*\$}"
}

begin_computes() {
    begin_gdb run -d 2 --gdb --trace=trace.gdb --stats=stats.json "$@" ./computes
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    same "at the entry" "T05thread:1;" "$(ask '?')"
}

end_computes() { # NAME: the run has ended, like the plain one. Sets ahead: how often user code was let run ahead
    exec 3>&-
    end "$1" 0 "$(cat plain.out)"
    check "$1: the same trace" cmp trace.plain trace.gdb
    ahead=$(sed -n 's/.*"grants_ahead": \([0-9]*\).*/\1/p' stats.json)
}

begin_computes
same "nothing is set" W00 "$(ask 'vCont;c')"
end_computes "a run to the end"
check "in which nodes run ahead" [ "$ahead" -gt 20 ]
free=$ahead

begin_computes
same "a breakpoint" OK "$(ask "Z0,$turn,4")"
for hit in 1 2 3; do
    check "it is hit" grep -qE '^T05.*thread:[123];$' <<<"$(ask 'vCont;c')"
    same "there" "${turn:14}${turn:12:2}${turn:10:2}" "$(ask p20 | cut -c1-6)"
    check "a step" grep -qE '^T05.*thread:[123];$' <<<"$(ask 'vCont;s')"
done
same "which is then removed" OK "$(ask "z0,$turn,4")"
reply=
for turns in 1 2 3 4 5; do
    go_on
    reply=$(interrupt)
    check "an interrupt of nodes that run ahead" grep -qE '^T02|^W00' <<<"$reply"
    [ "${reply:0:3}" = W00 ] && break
    reply=$(ask 'vCont;s:1;c') # alone, a node that waits would not come to its end
    check "and a step" grep -qE '^T0[25]|^W00' <<<"$reply"
    [ "${reply:0:3}" = W00 ] && break
done
[ "${reply:0:3}" = W00 ] || same "the end" W00 "$(ask 'vCont;c')"
end_computes "breakpoints, interrupts and steps"

begin_computes --gdb-memory=0
same "a breakpoint that is not hit" OK "$(ask "Z0,4,4")"
same "is set" W00 "$(ask 'vCont;c')"
end_computes "a run with a breakpoint"
check "in which nodes run ahead no more ($ahead of $free)" [ "$ahead" -lt $((free / 2)) ]
begin_computes
same "where gdb can go back" OK "$(ask "Z0,4,4")"
same "it is not hit either" W00 "$(ask 'vCont;c')"
end_computes "another machine, or this one"

# ---- However the host executes the harts

ways=threads
"$ncube" run --harts=turns "$debugged" >out 2>err || grep -q "harts 'turns'" err || check "turns" false
[ -s err ] && skip "gdb where harts take turns" "$(cat err)" || ways="inside turns threads"
"$ncube" run -d 6 --trace=trace.plain "$debugged" >out
for way in $ways; do
    begin -d 6 "--harts=$way" --trace=trace.gdb --
    gdb 'break add thread 64' 'break work if node == 17' 'tbreak receive' 'continue' 'monitor time' 'continue' \
        'backtrace' 'continue' 'next' 'stepi' 'monitor time' 'info threads' 'x/2i $pc' 'info registers a0 a5 fa5 pc' \
        'delete' 'watch total thread 64' 'continue' 'continue' 'monitor time' 'delete' 'continue'
    end "64 nodes, $way" 0 "sum 2016"
    says "$way: one node's breakpoint" '^Thread 64 "node 63" hit Breakpoint 1, add'
    says "$way: one with a condition" '^Thread 18 "node 17" hit Breakpoint 2, work \(node=17\)'
    says "$way: a watchpoint" '^Thread 64 "node 63" hit Hardware watchpoint 4: total'
    check "$way: the trace is that of a run without gdb" cmp trace.plain trace.gdb
    cp gdb.out "gdb.$way"
    check "$way: nodes stop where they stop in any other way" \
        cmp <(grep -v "Remote debugging\|:$port" gdb.${ways%% *}) <(grep -v "Remote debugging\|:$port" "gdb.$way")
done

for way in $ways; do # nodes that compute, on more processors than one, where there are any
    begin_gdb run -d 2 "--harts=$way" --gdb "$debugged" loop
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    same "$way: at the entry" "T05thread:1;" "$(ask '?')"
    go_on
    await grep -qs 'sum 6' run.out
    for turns in 1 2; do
        check "$way: an interrupt" grep -qE '^T02thread:' <<<"$(interrupt)"
        check "$way: a step" grep -qE '^T05thread:2' <<<"$(ask 'vCont;s:2;c')"
        go_on
    done
    check "$way: an interrupt" grep -qE '^T02thread:' <<<"$(interrupt)"
    printf '$k#6b' >&3
    exec 3>&-
    end "$way: kill" 1 "sum 6"
done

# ---- A machine that is kept up

export NCUBE_NAME=gdb-$$
"$ncube" boot -d 2 --gdb >up 2>up.err &
boot=$!
await grep -qs 'is up' up
status "no program runs" 0 "$ncube" gdb
port=$(sed -n "s/^gdb-multiarch PROGRAM -ex 'target remote :\([0-9]*\)'$/\1/p" out)
check "so the next one waits" [ -n "$port" ]
"$build/bin/xnc" -d 1 "$debugged" >run.out 2>run.err &
run=$!
await grep -qs 'waiting for gdb' up.err
lists_nodes() { "$ncube" ps 2>&1 | grep -q 'nodes 0-1'; }
check "meanwhile the machine answers" await lists_nodes
gdb 'info threads' 'break collect' 'continue' "shell $ncube ps" 'continue'
end "the next program" 0 "sum 1"
says "it stands at its entry" '^\* 1 +Thread 1 "node 0" \(runs\) +_start'
says "a breakpoint" 'hit Breakpoint 1, collect \(nodes=2\)'
says "while it stands, the machine answers" '^  nodes 0-1 .* \(xnc [0-9]*\)'
says "its end" 'exited normally'
gdb 'info threads'
says "no program, no gdb" 'Remote connection closed|No threads'

"$build/bin/xnc" -d 1 "$debugged" loop >loop.out 2>&1 &
loop=$!
await grep -qs 'sum 1' loop.out
rm run.out
"$build/bin/xnc" -d 1 "$debugged" loop >run.out 2>run.err &
run=$!
await grep -qs 'sum 1' run.out
status "which one?" 1 "$ncube" gdb
same "says so" "ncube: 2 programs run; give a node of one of them: --node=N, see ncube ps" "$(cat err)"
status "the one on node 2" 0 "$ncube" gdb --node=2
gdb 'info threads' 'backtrace' 'print here' 'kill'
end "kill" 1 "sum 1"
says "its nodes are numbered from 0" '^  2 +Thread 2 "node 1"'
check "the other one goes on" kill -0 "$loop"
status "no such node" 1 "$ncube" gdb --node=3
same "is named" "ncube: no program runs on node 3; see ncube ps" "$(cat err)"
status "the other one" 0 "$ncube" gdb "$NCUBE_NAME"
gdb 'info threads' "shell $ncube ps" "shell $ncube down && echo it is down"
says "is there" '^\* 1 +Thread 1 "node 0"'
says "the machine answers while gdb looks at a program that computes" ': up, .* virtual time'
says "and goes down" '^it is down$'
wait $boot
same "as it would without gdb" 0 $?
wait $loop

"$ncube" boot -d 0 >plain.up 2>up.err &
boot=$!
await grep -qs 'is up' plain.up
status "a machine without --gdb" 1 "$ncube" gdb
same "is told so" "ncube: the machine was booted without --gdb; boot it with ncube boot --gdb" "$(cat err)"
"$ncube" down
wait $boot
status "no machine" 1 "$ncube" gdb
status "a node that is none" 2 "$ncube" gdb --node=x

cat >volume.conf <<'EOF'
dim = 1;
boards = ( { number = 0; io_nodes = (
    { index = 0; si = [1]; drives = ( { volume = "df00"; image = "df00.img"; } ); } ); } );
EOF
"$ncube" disk create -m volume.conf 1M >/dev/null
begin -m volume.conf -d 1 --
gdb 'break work' 'continue' 'delete' 'continue'
end "a machine whose volumes are mounted first" 0 "sum 1"
says "waits at the entry, too" 'hit Breakpoint 1, work \(node=0\)'

# ---- Command line

begin -d 0 --
status "a port in use" 1 "$ncube" run "--gdb=$port" "$debugged"
same "says so" "ncube: cannot wait for gdb on port $port: Address already in use; give another port, or --gdb alone \
for a free one" "$(cat err)"
gdb 'detach'
end "the other run" 0 "sum 0"
status "no port" 2 "$ncube" run --gdb=70000 "$debugged"
check "is refused" grep -q "gdb '70000': give a number from 0 to 65535" err

finish
