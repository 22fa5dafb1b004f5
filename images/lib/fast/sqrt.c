/*
 * Square roots by the instruction. newlib's take a bit at a time, 1,900 cycles; sqrt, pow, hypot, acos and others call
 * them by these names, which ncc links with --wrap.
 */
double __wrap___ieee754_sqrt(double x);
float __wrap___ieee754_sqrtf(float x);

double __wrap___ieee754_sqrt(double x)
{
    double root;

    __asm__("fsqrt.d %0, %1" : "=f"(root) : "f"(x));
    return root;
}

float __wrap___ieee754_sqrtf(float x)
{
    float root;

    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(x));
    return root;
}
