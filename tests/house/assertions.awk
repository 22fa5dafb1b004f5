# Prints "FILE: SUITE, NAME" for each test of Criterion that only a crash can fail: there is no assertion in it, nor in
# any function of the tests that it calls, directly or not. Reads all C files of tests, laid out by clang-format: a
# function begins in the first column, and so do its braces.

# The assertions of Criterion, but for those that say something that is always true.
function asserts(text) {
    gsub(/cr_(assert|expect)\((true|1)[,)]/, "", text)
    return text ~ /(^|[^a-z_])cr_(assert|expect|fatal|fail|log_error)[a-z_]*\(/
}

# A function, a macro or a test begins: what is in it up to `inside = 0` belongs to it.
function begin(new_name, is_static) {
    name = new_name
    owner = is_static ? FILENAME : ""
    inside = 1
    calls[owner, name] = ""
}

function add(text) {
    if (asserts(text))
        can_fail[owner, name] = 1
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
        calls[owner, name] = calls[owner, name] " " substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
    }
    file_of[owner, name] = FILENAME
}

FNR == 1 { inside = 0; head = "" }

/^(Parameterized|Row)?Test\(/ {
    head = $0
    sub(/^(Parameterized|Row)?Test\((size_t \*row, )?/, "", head)
    if (/^RowTest/)
        sub(/, [a-z_0-9]+\)/, ")", head) # its table
    sub(/[,)] *(\..*)?$/, "", head)
    begin(head, 1)
    test[owner, name] = FILENAME ": " head
    if (/\.(signal|exit_code) = /) # how it must end
        can_fail[owner, name] = 1
    head = ""
    next
}

!inside && /^#define [A-Za-z_]+\(/ {
    define = $2
    sub(/\(.*/, "", define)
    begin(define, FILENAME !~ /\.h$/)
    add($0)
    inside = $0 ~ /\\$/ ? 2 : 0
    next
}

inside == 2 {
    add($0)
    inside = /\\$/ ? 2 : 0
    next
}

/^\{/ && head != "" {
    is_static = head ~ /^static / && FILENAME !~ /\.h$/
    sub(/\(.*/, "", head)
    sub(/.*[ *]/, "", head)
    begin(head, is_static)
    head = ""
    next
}

/^\}/ { inside = 0; head = "" }

inside { add($0) }

!inside && /^[a-z].*[(,)]/ { head = head == "" ? $0 : head " " $0 }

!inside && /;$/ { head = "" }

# The files' own functions come before those of other files.
function reaches(from, called) {
    if ((file_of[from], called) in calls)
        return (file_of[from], called) in can_fail
    return ("", called) in can_fail
}

END {
    do {
        grown = 0
        for (f in calls) {
            if (f in can_fail)
                continue
            n = split(calls[f], word, " ")
            for (i = 1; i <= n; i++)
                if (reaches(f, word[i])) {
                    can_fail[f] = grown = 1
                    break
                }
        }
    } while (grown)
    for (f in test)
        if (!(f in can_fail))
            print test[f]
}
