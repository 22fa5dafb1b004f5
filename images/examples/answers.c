/* The second of two programs (asks.c): answers a number by its square. */
#include <n_errno.h>
#include <nself.h>
#include <stddef.h>

#define QUESTION 1
#define ANSWER   2

int main(void)
{
    int from = N_ANY, type = QUESTION;
    long number;

    if (nread(&number, sizeof number, &from, &type, NULL) < 0) {
        nperror("answers");
        return 1;
    }
    number *= number;
    return nwrite(&number, sizeof number, from, ANSWER, NULL) < 0;
}
