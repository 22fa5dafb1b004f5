/* Writes lines of 2,000 bytes to its standard output, and says on the other which of them have failed. Ends with 5.
 *
 *   writes [LINES]   (default 100)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int lines = argc > 1 ? atoi(argv[1]) : 100;
    char line[2000];

    memset(line, 'x', sizeof line);
    line[1999] = '\n';
    for (int i = 0; i < lines; i++) {
        int n = (int)write(1, line, sizeof line);

        if (n != sizeof line)
            fprintf(stderr, "write %d: %d, %s\n", i, n, strerror(errno));
    }
    return 5;
}
