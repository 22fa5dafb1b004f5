# For suites in which gdb is driven by commands and its output judged; to be sourced after tests/shell.sh. `ncube` is
# the command, `debugged` the program; the output of both is in run.out, run.err and gdb.out. `input` is the standard
# input of ncube; if it is a pipe, our descriptor 4 is its other end.
input=/dev/null

# begin_suite WHAT BUILD: goes to the scratch folder; sets build, ncube and debugged. Without gdb, skips WHAT, which is
# all of the suite.
begin_suite() {
    build=$(readlink -f "$2")
    ncube=$build/bin/ncube
    debugged=$build/guest/debugged
    cd "$scratch" || exit 1
    command -v gdb-multiarch >/dev/null && return
    skip "$1" "gdb-multiarch is not installed"
    finish
}

# make_volume DIM: the machine file m.conf of that dimension, with one volume, and a copy of its image in new.img
make_volume() {
    cat >m.conf <<END
dim = $1;
front_end = { si = 0; };
boards = ( { number = 0; io_nodes = (
    { index = 0; si = [1]; drives = ( { volume = "df00"; image = "df00.img"; } ); } ); } );
END
    "$ncube" disk create -m m.conf 8M >/dev/null || exit 1
    cp df00.img new.img
}

# begin_gdb WORD...: starts that command of ncube's and waits until it waits for gdb. Sets run and port.
begin_gdb() {
    rm -f run.out run.err
    timeout 600 "$ncube" "$@" <"$input" >run.out 2>run.err 4>&- &
    run=$!
    await grep -qs 'waiting for gdb' run.err
    port=$(sed -n "s/.*target remote :\([0-9]*\)'.*/\1/p" run.err)
}

# gdb COMMAND...: executes them; output to gdb.out
gdb() {
    local words=(-ex 'set remotetimeout 500' -ex 'set style enabled off' -ex 'set width 0' -ex "target remote :$port")
    for command in "$@"; do
        words+=(-ex "echo [$command]\\n" -ex "$command")
    done
    timeout 590 gdb-multiarch -nx -batch "${words[@]}" "$debugged" >gdb.out 2>&1
}

# end NAME STATUS OUTPUT: the run ends, with that status and that output
end() {
    wait "$run"
    same "$1: status of the run" "$2" $?
    same "$1: output of the run" "$3" "$(cat run.out)"
}

# says NAME PATTERN: gdb has printed that
says() {
    check "$1" grep -qE "$2" gdb.out || sed 's/^/    /' gdb.out
}

after() { # what gdb printed after a command
    awk -v command="[$1]" '$0 == command { on = 1; next } /^\[.*\]$/ { on = 0 } on' gdb.out
}

# ask PACKET: its answer, without a frame; descriptor 3 is the connection
ask() {
    local sum=0 i reply
    for ((i = 0; i < ${#1}; i++)); do
        sum=$(((sum + $(printf %d "'${1:i:1}")) & 255))
    done
    printf '$%s#%02x' "$1" $sum >&3
    IFS= read -r -t 300 -d '#' reply <&3
    read -r -t 300 -N 2 <&3
    echo "${reply#*\$}"
}

cabinets() { # the QEMUs of that process; ncube may be inside one of them, which has the others then
    for process in $(pgrep -P "$1"); do
        echo "$process" $(pgrep -P "$process")
    done
}

# begin_pass: gdb goes back, in the run that it waits for, which begins another machine. Sets ncube_pid and qemus
begin_pass() {
    local before
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    ask '?' >/dev/null
    ncube_pid=$(pgrep -P "$run")
    before=$(cabinets "$ncube_pid")
    printf '$bc#c5' >&3
    for ((i = 0; i < 6000; i++)); do
        qemus=$(cabinets "$ncube_pid")
        [ -z "$qemus" ] || [ "$qemus" = "$before" ] || break
        sleep 0.01
    done
    check "a pass has begun" [ "$qemus" != "$before" ]
}

leaves() { # NAME STATUS: the run has ended, with that status, and nothing is left of it
    wait "$run"
    same "$1: status" "$2" $?
    for qemu in $qemus; do
        await [ ! -e "/proc/$qemu" ]
    done
}
