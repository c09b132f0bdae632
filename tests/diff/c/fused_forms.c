// levels: O0 O1 O2
/* Comparisons, tests, truncations, sums and negations fused into their users; calls from
   frames of fixed, large and growing size; elementwise operations on vectors. */
#include <stdio.h>
#include <string.h>

#define KEEP __attribute__((noinline))
typedef unsigned long u2 __attribute__((vector_size(16)));
typedef unsigned int u4 __attribute__((vector_size(16)));
typedef unsigned char b16 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));
typedef double d2 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));

KEEP static long choose(long a, long b, long x, long y) {
    long r = a < b ? x : y;
    r += a == b ? x * 3 : y;
    r ^= (unsigned long)a < (unsigned long)b ? y : x;
    r += a <= 17 ? x : y;
    r -= (a & 12) ? x : y;
    r += (int)a > (int)b ? x + 1 : y + 2;
    return r;
}
KEEP static double larger(double a, double b) { return a > b ? a : a <= b ? b : -1; }
KEEP static int low(unsigned long n) {
    int r = 0;
    for (unsigned long i = n; i < n + 40; i += 9) {
        unsigned k = (unsigned)i;
        if (k == 7u) r += 1000;
        if (k < 30u) r += 3;
        if ((int)k < -4) r += 50000;
        r += (int)(k * 3 + 1) + (int)((double)(int)k * 0.5);
    }
    return r;
}
KEEP static double minus(double a, double b, double c) {
    return -a * b + c * (-b * a) + __builtin_fma(-c, b, a);
}
KEEP static long down(long n) { return n < 2 ? n : down(n - 1) + down(n - 2); }
KEEP static long growing(long n) {
    char room[n + 1];
    memset(room, (int)n, n + 1);
    return n == 0 ? room[0] : growing(n - 1) + room[n];
}
KEEP static long large(long n) {
    volatile char room[600000], more[600000];
    room[n] = (char)n;
    more[n] = (char)(n * 2);
    return n == 0 ? room[0] : large(n - 1) + room[n] + more[n];
}
KEEP static long four(long a, long b, long c, long d) { return a - b * 3 + c * 5 - d * 7; }
KEEP static long none(void) {
    static long calls;
    return ++calls;
}

int main(void) {
    unsigned long r = 0;
    for (long a = -3; a < 30; a += 4)
        for (long b = -5; b < 25; b += 3) r = r * 7 + (unsigned long)choose(a, b, a * 2 + b, b - a);
    printf("%lu\n", r);
    printf("%.17g %.17g %.17g\n", larger(1, 2), larger(3, -2), larger(__builtin_nan(""), 1));
    printf("%d %d %d\n", low(0), low(0xfffffff0UL), low(0x7fffffffffUL));
    printf("%.17g %.17g\n", minus(1.25, -3.5, 0.1), minus(-0.0, 2, 0));
    printf("%ld %ld %ld\n", down(17), growing(60), large(3));
    printf("%ld %ld\n", four(none(), none(), none(), none()), down(none()));

    u2 p = {0x0123456789abcdefUL, 0x8000000000000001UL};
    u4 q = {1, 0x00ff00ff, 0x80000000, 77};
    b16 s = {1, 2, 3, 255, 128, 127, 64, 0, 9, 8, 7, 6, 5, 4, 3, 2};
    i4 t = {-5, 5, (int)0x80000001, 0};
    volatile int shift = 0;
    p += shift;
    q += shift;
    u2 pc = __builtin_elementwise_popcount(p);
    u4 qc = __builtin_elementwise_popcount(q);
    b16 sc = __builtin_elementwise_popcount(s + (unsigned char)shift);
    u4 qb = __builtin_elementwise_bitreverse(q);
    i4 ta = __builtin_elementwise_abs(t + shift);
    printf("%lu %lu %u %u %u %u\n", pc[0], pc[1], qc[0], qc[1], qc[2], qc[3]);
    for (int i = 0; i < 16; i++) printf("%d ", sc[i]);
    printf("\n%x %x %x %x %d %d %d %d\n", qb[0], qb[1], qb[2], qb[3], ta[0], ta[1], ta[2], ta[3]);
    d2 d = {-1.5, 2.5};
    f4 f = {0.5f, 1.5f, -0.25f, 7.75f};
    d += shift;
    f += (float)shift;
    d2 dr[4] = {__builtin_elementwise_floor(d), __builtin_elementwise_ceil(d),
                __builtin_elementwise_trunc(d), __builtin_elementwise_rint(d)};
    f4 fr[4] = {__builtin_elementwise_floor(f), __builtin_elementwise_ceil(f),
                __builtin_elementwise_trunc(f), __builtin_elementwise_rint(f)};
    for (int k = 0; k < 4; k++)
        printf("%g %g %g %g %g %g\n", dr[k][0], dr[k][1], fr[k][0], fr[k][1], fr[k][2], fr[k][3]);
    return 0;
}
