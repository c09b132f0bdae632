// Adjacent vectors of 16 bytes, which compiled code may pack in pairs: in place, overlapping, with stores,
// calls, exits and exceptions between the two of a pair, and with values that are also used elsewhere.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef double two __attribute__((vector_size(16), aligned(8)));
typedef float four __attribute__((vector_size(16), aligned(4)));
typedef int32_t ints __attribute__((vector_size(16), aligned(4)));
typedef int64_t longs __attribute__((vector_size(16), aligned(8)));
typedef uint8_t bytes __attribute__((vector_size(16), aligned(1)));

static double a[40], b[40], c[40];

static two *at(double *p, int i) { return (two *)(p + i); }

static void reset(void)
{
    for (int i = 0; i < 40; i++) {
        a[i] = 1.0 + i * 0.37;
        b[i] = 2.0 - i * 0.11;
        c[i] = 0.5 + (i * 7 % 13);
    }
}

static void show(const char *what)
{
    double sum = 0.0;
    for (int i = 0; i < 40; i++)
        sum += (i + 1) * (a[i] + 3.0 * b[i] + 7.0 * c[i]);
    printf("%s %.17g", what, sum);
    for (int i = 0; i < 6; i++)
        printf(" %.17g", a[i]);
    printf("\n");
}

/* The second statement reads what the first wrote if the pointers overlap by one or more numbers. */
__attribute__((noinline)) static void scale(double *to, const double *from, double by)
{
    two s = {by, by};
    *at(to, 0) = *(const two *)(from + 0) * s + *(const two *)(from + 4);
    *at(to, 2) = *(const two *)(from + 2) * s + *(const two *)(from + 6);
}

/* The same without overlap: four statements whose pairs cross. */
__attribute__((noinline)) static void apart(double *restrict to, const double *restrict from)
{
    two h = {0.5, 0.25};
    two x0 = *(const two *)(from + 0), x1 = *(const two *)(from + 2);
    two x2 = *(const two *)(from + 4), x3 = *(const two *)(from + 6);
    *at(to, 6) = x0 - x3 / h;
    *at(to, 2) = x1 + h * x2;
    *at(to, 4) = x3 - x0 / h;
    *at(to, 0) = x2 + h * x1;
}

/* All operations that a pair can consist of, and a value of it that is used elsewhere. */
__attribute__((noinline)) static double lines(double *restrict to, const double *restrict from, double by)
{
    two s = {by, by}, t = {by, -by};
    for (int i = 0; i < 8; i += 4) {
        two x = *(const two *)(from + i), y = *(const two *)(from + i + 2);
        two u = x * s - *(const two *)(from + 8 + i), v = y * s - *(const two *)(from + 10 + i);
        u = __builtin_shufflevector(u, u, 1, 0) / t;
        v = __builtin_shufflevector(v, v, 1, 0) / t;
        u = __builtin_elementwise_max(-u, __builtin_elementwise_sqrt(x * x));
        v = __builtin_elementwise_max(-v, __builtin_elementwise_sqrt(y * y));
        *at(to, i) = u * x + (two){to[i + 8], to[i + 9]};
        *at(to, i + 2) = y * v + (two){to[i + 12], to[i + 11]};
        by += u[1] - v[0];
    }
    return by;
}

/* The upper of two vectors is computed first. */
__attribute__((noinline)) static void upwards(double *restrict to, const double *restrict from)
{
    two y = *(const two *)(from + 2) * *(const two *)(from + 6);
    *at(to, 2) = y + y;
    to[9] = from[3];
    two x = *(const two *)(from + 0) * *(const two *)(from + 4);
    *at(to, 0) = x + x;
}

/* Halves swapped within each vector, and between both. */
__attribute__((noinline)) static void swapped(double *to, const double *from)
{
    two x = *(const two *)from, y = *(const two *)(from + 2);
    *at(to, 0) = __builtin_shufflevector(x, y, 1, 0) + x;
    *at(to, 2) = __builtin_shufflevector(y, x, 1, 0) + y;
    *at(to, 4) = __builtin_shufflevector(x, y, 1, 2) * y;
    *at(to, 6) = __builtin_shufflevector(y, x, 1, 2) * x;
}

/* One of a pair is used before the other is computed. */
__attribute__((noinline)) static double early(double *to, const double *from)
{
    two x = *(const two *)from * *(const two *)(from + 8);
    double first = x[1] + 1.0;
    *at(to, 10) = (two){first, first};
    two y = *(const two *)(from + 2) * *(const two *)(from + 10);
    *at(to, 0) = x - y;
    *at(to, 2) = y - x;
    return x[0] + y[1];
}

/* A store to memory that the second of the pair reads, and that the first wrote. */
__attribute__((noinline)) static void between(double *to, double *from, double *other)
{
    *at(to, 0) = *at(from, 0) + *at(from, 8);
    other[3] = to[1] * 2.0;
    *at(to, 2) = *at(from, 2) + *at(from, 10);
}

static int calls;

__attribute__((noinline)) static void count(double *p)
{
    calls++;
    p[0] += calls;
    if (calls == 7) {
        show("ends");
        exit(0);
    }
}

__attribute__((noinline)) static void call_between(double *to, double *from)
{
    *at(to, 0) = *at(from, 0) - *at(from, 8);
    count(from + 2);
    *at(to, 2) = *at(from, 2) - *at(from, 10);
}

/* Stored by halves, loaded whole. */
__attribute__((noinline)) static void halves(double *to, double x, double y)
{
    to[0] = x;
    to[1] = y;
    *at(to, 2) = (two){x + y, x - y};
    *at(to, 4) = *at(to, 0) * *at(to, 0);
    *at(to, 6) = *at(to, 2) * *at(to, 2);
}

__attribute__((noinline)) static void float_pairs(four *restrict q, const four *restrict p)
{
    q[0] = p[0] * p[2] + p[0];
    q[1] = p[1] * p[3] + p[1];
    ints less0 = q[0] < p[2], less1 = q[1] < p[3];
    q[2] = (four)(((ints)q[0] & ~less0) | ((ints)p[0] & less0));
    q[3] = (four)(((ints)q[1] & ~less1) | ((ints)p[1] & less1));
}

static void floats(void)
{
    float x[16], y[16];
    for (int i = 0; i < 16; i++)
        x[i] = 0.3f + i;
    float_pairs((four *)y, (four *)x);
    for (int i = 0; i < 16; i++)
        printf(" %.9g", (double)y[i]);
    printf("\n");
}

__attribute__((noinline)) static void integer_pairs(ints *restrict p, longs *restrict q,
                                                    bytes *restrict r)
{
    p[0] = (p[0] << 3) ^ (p[0] >> 2);
    p[1] = (p[1] << 3) ^ (p[1] >> 2);
    q[0] = __builtin_elementwise_max(q[0] - 5, -q[0]);
    q[1] = __builtin_elementwise_max(q[1] - 5, -q[1]);
    r[0] = r[0] + __builtin_elementwise_add_sat(r[0], r[0]);
    r[1] = r[1] + __builtin_elementwise_add_sat(r[1], r[1]);
}

static void integers(void)
{
    int32_t x[8];
    int64_t y[4];
    uint8_t z[32];
    for (int i = 0; i < 32; i++) {
        z[i] = (uint8_t)(i * 37);
        x[i % 8] = i * 1234567 - 9;
        y[i % 4] = (int64_t)i * 0x123456789abcdef;
    }
    integer_pairs((ints *)x, (longs *)y, (bytes *)z);
    uint64_t sum = 0;
    for (int i = 0; i < 32; i++)
        sum = sum * 31 + z[i] + (uint32_t)x[i % 8] + (uint64_t)y[i % 4];
    printf("%llu\n", (unsigned long long)sum);
}

int main(void)
{
    for (int distance = 0; distance <= 8; distance++) {
        reset();
        scale(a + distance, a, 1.5);
        scale(b, b + distance, 0.75);
        show("scale");
    }
    reset();
    apart(a, b);
    printf("%.17g\n", lines(a + 8, c, 1.25));
    upwards(b, c);
    show("apart");
    for (int distance = 0; distance <= 4; distance++) {
        reset();
        swapped(a, c);
        swapped(b + distance, b);
        printf("%.17g\n", early(a + distance, a));
        between(a, b, b + distance);
        between(c, c + 4, c + distance);
        halves(a + 20 + distance, 0.1 * distance, 3.0);
        show("all");
    }
    floats();
    integers();
    reset();
    for (int i = 0; i < 10; i++) {
        call_between(a + i, b + i);
        show("call");
    }
    return 1;
}
