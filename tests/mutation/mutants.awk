# Prints the mutants of C sources, one a line: NUMBER <tab> FILE <tab> LINE <tab> COLUMN <tab> LENGTH <tab> TEXT, which
# replaces so many characters there. The sources are laid out by clang-format: binary operators stand between spaces,
# and a statement ends its line. Assertions are left alone: in a program that is right, they do nothing.
#
# NUMBER orders them by chance, as the variable `seed` says, and does not change when other lines do.

BEGIN {
    n = split("< <=|<= <|> >=|>= >|== !=|!= ==|&& //|// &&|+ -|- +|+= -=|-= +=", pair, "|")
    for (i = 1; i <= n; i++) {
        split(pair[i], side, " ")
        sub("//", "||", side[1])
        sub("//", "||", side[2])
        other[side[1]] = side[2]
    }
    filler = sprintf("%200s", "")
    for (i = 1; i < 128; i++)
        code[sprintf("%c", i)] = i
}

function hash(text,    h, i, n) {
    h = seed % 65521 + 1
    n = length(text)
    for (i = 1; i <= n; i++)
        h = (h * 16807 + code[substr(text, i, 1)]) % 2147483647
    return h * 16807 % 2147483647
}

function mutant(column, length_, text,    name) {
    name = FILENAME ":" $0 ":" column ":" text
    printf "%010d\t%s\t%d\t%d\t%d\t%s\n", hash(name ":" ++times[name]), FILENAME, FNR, column, length_, text
}

# The line with spaces, or letters, instead of comments, strings and characters.
function blank(text,    at, found) {
    while (match(text, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/)) {
        found = substr(filler, 1, RLENGTH)
        gsub(/ /, "@", found)
        text = substr(text, 1, RSTART - 1) found substr(text, RSTART + RLENGTH)
    }
    while (in_comment || (at = index(text, "/*"))) {
        at = in_comment ? 1 : at
        found = index(substr(text, at), "*/")
        in_comment = !found
        if (!found)
            return substr(text, 1, at - 1)
        text = substr(text, 1, at - 1) substr(filler, 1, found + 1) substr(text, at + found + 1)
    }
    return text
}

function operators(text,    at, word, from) {
    at = 1
    while (match(substr(text, at), / [-<>=!&|+][=&|]? /)) {
        from = at + RSTART
        word = substr(text, from, RLENGTH - 2)
        if (word in other)
            mutant(from, length(word), other[word])
        at = from
    }
}

function constants(text,    at, from, number) {
    at = 1
    while (match(substr(text, at), /[0-9A-Za-z_.]+/)) {
        from = at + RSTART - 1
        number = substr(text, from, RLENGTH)
        at = from + RLENGTH
        if (number ~ /^[0-9]+u?$/)
            mutant(from, length(number), number + 1 (number ~ /u$/ ? "u" : ""))
    }
}

# A statement that is no declaration and changes no flow of control: an assignment or a call.
function is_statement(text) {
    return text ~ /^ +[(*]*[a-z_][a-z_A-Z0-9]*[^ ]*( [-+*\/%&|^<>]*= .*|\(.*\)|\+\+|--);$/ &&
        before ~ /([;{}:)]|else|do)$|^$/ &&
        text !~ /^ +(return|struct|static|const|if|for|while|switch|case|sizeof)[^a-z_]/ &&
        gsub(/\(/, "(", text) == gsub(/\)/, ")", text)
}

FNR == 1 {
    in_comment = inside = 0
    before = ""
}

{
    text = blank($0)
    sub(/ +$/, "", text)
}

text ~ /^#/ || text ~ /\\$/ { next }
text ~ /^\{/ { inside = 1 }
text ~ /^\}/ { inside = 0 }

inside && text !~ /^ *$/ && text !~ /^ *assert\(/ {
    operators(text)
    constants(text)
    if (is_statement(text)) {
        match(text, /[^ ]/)
        mutant(RSTART, length(text) - RSTART + 1, ";")
    }
}

text !~ /^ *$/ { before = text }
