/*
 * wc [-c]: counts lines, words and bytes of its standard input, on one node; -c: bytes only.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char buf[16384];
    long lines = 0, words = 0, bytes = 0;
    bool in_word = false;
    ssize_t n;

    while ((n = read(STDIN_FILENO, buf, sizeof buf)) > 0) {
        bytes += n;
        for (ssize_t i = 0; i < n; i++) {
            bool is_space = isspace((unsigned char)buf[i]);

            lines += buf[i] == '\n';
            words += !is_space && !in_word;
            in_word = !is_space;
        }
    }
    if (n < 0) {
        perror("wc");
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "-c") == 0)
        printf("%ld\n", bytes);
    else
        printf("%ld %ld %ld\n", lines, words, bytes);
    return 0;
}
