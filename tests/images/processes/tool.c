/* What the shell of shell.c runs: tool NAME ARGUMENT... */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count_words(void)
{
    long lines = 0, words = 0, bytes = 0;

    for (int c, last = ' '; (c = getchar()) != EOF; last = c) {
        bytes++;
        lines += c == '\n';
        words += isspace(last) && !isspace(c);
    }
    printf("%ld %ld %ld\n", lines, words, bytes);
}

static void keep_lines(const char *with)
{
    char line[1000];

    while (fgets(line, sizeof line, stdin))
        if (strstr(line, with))
            fputs(line, stdout);
}

static void add_up(void)
{
    long sum = 0, x;

    while (scanf("%ld", &x) == 1)
        sum += x;
    printf("%ld\n", sum);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "", *word = argc > 2 ? argv[2] : "";

    if (strcmp(name, "seq") == 0)
        for (int i = 1; i <= atoi(word); i++)
            printf("%d\n", i);
    else if (strcmp(name, "cat") == 0)
        for (int c; (c = getchar()) != EOF;)
            putchar(c);
    else if (strcmp(name, "upper") == 0)
        for (int c; (c = getchar()) != EOF;)
            putchar(toupper(c));
    else if (strcmp(name, "wc") == 0)
        count_words();
    else if (strcmp(name, "grep") == 0)
        keep_lines(word);
    else if (strcmp(name, "sum") == 0)
        add_up();
    else if (strcmp(name, "head") == 0)
        for (int c, n = atoi(word); n > 0 && (c = getchar()) != EOF; n -= c == '\n')
            putchar(c);
    else if (strcmp(name, "exit") == 0)
        return atoi(word);
    else if (strcmp(name, "raise") == 0)
        raise(atoi(word));
    else if (strcmp(name, "yes") == 0)
        for (;;)
            puts(word);
    else if (strcmp(name, "arguments") == 0)
        for (int i = 2; i < argc; i++)
            printf("[%s]\n", argv[i]);
    else
        return 127;
    return 0;
}
