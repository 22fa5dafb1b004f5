/*
 * The end of a pipeline: says whether the numbers of the standard input ascend. It knows nothing of nodes and mappings;
 * any program of Unix could stand here.
 */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    uint32_t number, before = 0;
    long n = 0;

    for (; fread(&number, sizeof number, 1, stdin) == 1; n++) {
        if (number < before) {
            printf("number %ld is less than the one before it\n", n);
            return 1;
        }
        before = number;
    }
    printf("%ld numbers, in order\n", n);
    return ferror(stdin) != 0;
}
