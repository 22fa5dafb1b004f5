# Derives the apt source of Debian's backports from the machine's own apt sources.
#
#   awk -f backports.awk -v codename=bookworm FILE...      FILE: *.list (one line each) or *.sources (deb822)
#
# Prints the new source in the format of the one it was derived from, with that one's address, options and
# keys. Of several sources it takes the archive that has CODENAME-updates too, since only Debian's own has;
# never a security archive, which has no backports.
# Exit: 0 printed, 1 no source to derive from, 3 backports are among the sources already.

function has_word(text, word) { return index(" " text " ", " " word " ") > 0 }

# One active source: where, which suites, which components, and the words to repeat in the new one.
function add_source(format, uris, suites, components, options) {
    if (has_word(suites, codename "-backports") && has_word(components, "main"))
        present = 1
    if (has_word(suites, codename "-updates"))
        debian[uris] = 1
    if (!has_word(suites, codename) || !has_word(components, "main") || uris ~ /security/)
        return
    count++
    source_format[count] = format
    source_uris[count] = uris
    source_options[count] = options
}

function read_one_line(    line, options, field, n, i, components) {
    line = $0
    sub(/#.*/, "", line)
    if (line !~ /^[ \t]*deb[ \t]/)
        return
    sub(/^[ \t]*deb[ \t]+/, "", line)
    if (match(line, /^\[[^]]*\]/)) {
        options = substr(line, 1, RLENGTH) " "
        line = substr(line, RLENGTH + 1)
    }
    n = split(line, field)
    for (i = 3; i <= n; i++)
        components = components " " field[i]
    add_source("list", field[1], field[2], substr(components, 2), options)
}

function squeeze(text) {
    gsub(/[ \t\n]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

function end_stanza(    name, options) {
    if (has_word(squeeze(value["types"]), "deb") && squeeze(value["enabled"]) !~ /^(no|false|0|off)$/) {
        for (name in value)
            if (name !~ /^(types|uris|suites|components|enabled)$/)
                options = options title[name] ":" value[name] "\n"
        add_source("sources", squeeze(value["uris"]), squeeze(value["suites"]),
                   squeeze(value["components"]), options)
    }
    split("", value)
    split("", title)
    field_name = ""
}

function read_stanza_line(    colon) {
    if ($0 ~ /^#/)
        return
    if ($0 ~ /^[ \t]*$/) {
        end_stanza()
    } else if ($0 ~ /^[ \t]/) {
        value[field_name] = value[field_name] "\n" $0
    } else if ((colon = index($0, ":")) > 0) {
        field_name = tolower(substr($0, 1, colon - 1))
        title[field_name] = substr($0, 1, colon - 1)
        value[field_name] = substr($0, colon + 1)
    }
}

FNR == 1 { end_stanza() }
FILENAME ~ /\.list$/ { read_one_line() }
FILENAME ~ /\.sources$/ { read_stanza_line() }

END {
    end_stanza()
    if (present)
        exit 3
    for (i = count; i >= 1; i--)
        if (!best || (source_uris[i] in debian) >= (source_uris[best] in debian))
            best = i
    if (!best)
        exit 1
    if (source_format[best] == "list")
        printf "deb %s%s %s-backports main\n", source_options[best], source_uris[best], codename
    else
        printf "Types: deb\nURIs: %s\nSuites: %s-backports\nComponents: main\n%s", source_uris[best],
               codename, source_options[best]
}
