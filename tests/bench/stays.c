/* Every node says hello, and then stays. */
#include <stdio.h>

int main(void)
{
    puts("hello");
    fflush(stdout);
    for (;;)
        ;
}
