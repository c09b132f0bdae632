// levels: O0 O1 O2
/* Loops of one access or one sum and a step: fills, sums, products of vectors, with
   steps and bounds of every form; counters used before and after they step. And products with an
   indexed element where factors, indices or both are local arrays. */
#include <stdio.h>
#include <string.h>

#define N 40000
#define KEEP __attribute__((noinline))
static double x[N], y[N];
static int at[N];
static unsigned char bytes[N];
static long words[N];

KEEP static double sum(const double *p, long n) {
    double s = 0;
#pragma clang loop vectorize(disable) unroll(disable)
    for (long i = 0; i < n; i++) s += p[i];
    return s;
}
KEEP static double dot(const double *p, const double *q, long from, long to, long step) {
    double s = 1;
#pragma clang loop vectorize(disable) unroll(disable)
    for (long i = from; i < to; i += step) s += p[i] * q[i];
    return s;
}
KEEP static double scaled(const double *p, double a, long n) {
    double s = 0;
#pragma clang loop vectorize(disable) unroll(disable)
    for (long i = n; i > 0; i--) s += a * p[i];
    return s;
}
KEEP static double gathered(const double *p, const double *q, const int *k, long n) {
    double s = 0;
#pragma clang loop vectorize(disable) unroll(disable)
    for (long i = 0; i < n; i++) s += p[i] * q[k[i]];
    return s;
}
KEEP static void axpy(double *p, const double *q, double a, long n) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (long i = 0; i < n; i++) p[i] += a * q[i];
}
KEEP static void mark(unsigned char *p, unsigned long from, unsigned long step, unsigned long end) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (unsigned long i = from; i < end; i += step) p[i] = 7;
}
KEEP static void put(long *p, long from, long step, long end, long value) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (long i = from; i < end; i += step) p[i] = value;
}
/* The bound is in memory that the loop writes, so it must be reloaded. */
KEEP static long until(long *p) {
    long i = 1;
    while (i < p[0]) {
        p[i] = i == 9 ? 12 : 1;
        if (i == 9) p[0] = p[9];
        i++;
    }
    return i;
}
/* The stored sum is the counter's next value plus one. */
KEEP static void smooth(double *to, const double *from, long n) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (long i = 1; i < n - 1; i++) to[i] = 0.25 * (from[i - 1] + from[i] + from[i + 1]) + from[i + 1];
}
/* Two counters of one loop; one is the other's previous value. */
KEEP static long chased(const long *p, long n) {
    long last = -1, i = 0, odd = 0;
    do {
        odd += p[i] * 3 + last;
        last = i;
        i++;
        odd ^= i;
    } while (i < n);
    return odd * 31 + last;
}
KEEP static unsigned long collatz(unsigned long n) {
    unsigned long steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        steps++;
    }
    return steps;
}
KEEP static void fill(double *w, int *k) {
    for (int i = 0; i < 4; i++) {
        w[i] = i + 0.5;
        k[i] = (i * 3 + 1) % 4;
    }
}
KEEP static double own_factor(const double *a, const int *idx, int n, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return w[2] * a[idx[n]] + s;
}
KEEP static double first_factor(const double *a, const int *idx, int n, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return w[0] * a[idx[n]] + s;
}
KEEP static double own_indices(const double *a, const double *b, int n, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return b[n] * a[k[1]] + s;
}
KEEP static double own_both(const double *a, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return w[3] * a[k[2]] + s;
}
KEEP static double own_all(int n, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return w[3] * w[k[n]] + s;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        x[i] = (i * 37 % 101) * 0.5;
        y[i] = (i * 53 % 97) - 40.25;
        at[i] = (int)((i * 7919L) % N);
        words[i] = i * 11 % 13;
    }
    printf("%.17g %.17g\n", sum(x, N), sum(y, 1));
    printf("%.17g %.17g %.17g\n", dot(x, y, 0, N, 1), dot(x, y, 5, N - 3, 7), dot(x, x, 8, 9, 100));
    printf("%.17g\n", scaled(y, -1.5, N - 1));
    printf("%.17g\n", gathered(x, y, at, N));
    axpy(x, y, 0.125, N);
    axpy(x + 1, x, 0.5, 20);
    smooth(y, x, N);
    printf("%.17g %.17g\n", sum(x, N), sum(y, N));
    for (unsigned long p = 2; p < 30; p++) mark(bytes, p * p, p, N);
    long marked = 0;
    for (int i = 0; i < N; i++) marked += bytes[i];
    put(words, 3, 5, N, -9);
    put(words, 0, 1, 1, 77);
    unsigned long all = 0;
    for (int i = 0; i < N; i++) all = all * 3 + (unsigned long)words[i];
    printf("%ld %lu\n", marked, all);
    long small[16] = {15};
    printf("%ld %ld\n", until(small), small[0]);
    printf("%ld\n", chased(words, N));
    unsigned long steps = 0;
    for (unsigned long i = 1; i < 300; i++) steps += collatz(i);
    printf("%lu\n", steps);
    static const double a[4] = {1, 20, 300, 4000}, b[4] = {2, 3, 5, 7};
    static const int idx[4] = {2, 1, 3, 0};
    for (int n = 0; n < 4; n++) {
        printf("%g %g\n", own_factor(a, idx, n, 0.25), first_factor(a, idx, n, 0.25));
        printf("%g %g %g\n", own_indices(a, b, n, 0.25), own_both(a, 0.25), own_all(n, 0.25));
    }
    return 0;
}
