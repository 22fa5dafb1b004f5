# The command lines of a page: a Markdown file, or a manual page's source. For each the files N.command, N.expected (the
# output as shown), N.mode, N.line and N.from (the number of the output's first line) are written into the folder `to`;
# prints how many there are.
#
#   ```                                    .nf
#   $ COMMAND                              $ COMMAND
#   output                                 output
#   ```                                    .fi
#
# A command goes on behind a backslash at the end of a line, and up to the end of a here-document. Before a block may be
#
#   <!-- set-up: COMMAND -->               .\" set-up: COMMAND            run before it, and not shown to the reader
#   <!-- test: MODE -->                    .\" test: MODE
#
# MODE is "skip REASON": not run; or words separated by commas: "any order": lines of output may come in another order;
# "among others": lines that are not shown may come, too; "host times": figures with a unit depend on the host.
# Lines in a block that begin with a command's name and lack the "$ " are reported: nobody would run them.

function write(extension, text) { printf "%s", text >(to "/" n "." extension); close(to "/" n "." extension) }

function flush() {
    if (command == "")
        return
    n++
    write("command", command)
    write("expected", expected)
    write("mode", mode)
    write("line", FILENAME ":" line)
    write("from", from)
    command = expected = ""
}

function begin(text, with_mode) {
    flush()
    command = text "\n"
    line = from = FNR
    mode = with_mode
    here = ""
    if (match(text, /<<'?[A-Z]+/)) {
        here = substr(text, RSTART + 2, RLENGTH - 2)
        sub(/'/, "", here)
    }
    goes_on = text ~ /\\$/
}

{ text = $0 }
roff {
    gsub(/\\-/, "-", text)
    gsub(/\\e/, "\\", text)
    sub(/^\\&/, "", text)
}
text ~ /^(<!--|\.\\") set-up: / {
    sub(/^(<!--|\.\\") set-up: /, "", text)
    sub(/ -->$/, "", text)
    begin(text, "set-up")
    flush()
    next
}
text ~ /^(<!--|\.\\") test: / {
    sub(/^(<!--|\.\\") test: /, "", text)
    sub(/ -->$/, "", text)
    block_mode = text
    next
}
(roff && text ~ /^\.nf/) || (!roff && !inside && text ~ /^```/) { inside = 1; next }
inside && ((roff && text ~ /^\.fi/) || (!roff && text ~ /^```/)) {
    flush()
    inside = 0
    block_mode = ""
    next
}
!inside { next }
command != "" && (goes_on || here != "") {
    command = command text "\n"
    goes_on = here == "" && text ~ /\\$/
    if (text == here)
        here = ""
    next
}
text ~ /^\$ / { begin(substr(text, 3), block_mode); next }
# Names of commands, each as it is called
text ~ /^ *(ncube (run|boot|down|ps|topo|route|place)|xnc (-[a-z]|--[a-z]+|\.?\/[^ ]*)) / ||
    text ~ /^ *(ncc|make|kill|mke2fs|debugfs|e2fsck|man) / {
    print FILENAME ":" FNR ": a command line without \"$ \": " text >"/dev/stderr"
    bad = 1
}
command != "" {
    if (expected == "")
        from = FNR
    expected = expected text "\n"
}
END {
    flush()
    print n + 0
    exit bad
}
