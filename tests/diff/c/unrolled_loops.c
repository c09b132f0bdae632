// Loops that compiled code may unroll further than clang did: loops over vectors of 16 bytes, of any length, with
// values carried between iterations and with overlapping memory; nests over the rows of small matrices,
// whose inner loops are shorter or longer from row to row.
#include <stdint.h>
#include <stdio.h>

enum { MOST = 45 };

static double a[3 * MOST], b[3 * MOST], c[3 * MOST];

static void reset(void)
{
    for (int i = 0; i < 3 * MOST; i++) {
        a[i] = 1.0 + i * 0.37;
        b[i] = 2.0 - i * 0.11;
        c[i] = 0.5 + (i * 7 % 13);
    }
}

static void show(const char *what, int n)
{
    double sum = 0.0;
    for (int i = 0; i < 3 * MOST; i++)
        sum += (i + 1) * (a[i] + 3.0 * b[i] + 7.0 * c[i]);
    printf("%s %d %.17g\n", what, n, sum);
}

/* One vector for each iteration, and the neighbors of each number. */
__attribute__((noinline)) static void smooth(int n, double *to, const double *from, const double *with)
{
    double near[MOST], far[MOST];
    for (int i = 0; i < n; i++) {
        near[i] = from[i] + with[i] + from[i + MOST];
        far[i] = with[i] - with[i + MOST];
    }
    for (int i = 1; i < n - 1; i++)
        to[i] = from[i] - 0.25 * (far[i] + near[i - 1] + near[i + 1]) - 0.125 * (far[i - 1] + far[i + 1]);
}

/* Reads numbers written `distance` iterations earlier; clang may know that it is two. */
__attribute__((noinline)) static void after(int n, double *to, int distance)
{
    for (int i = 0; i < n; i++)
        to[i + distance] = to[i] * 0.5 + b[i];
}

__attribute__((noinline)) static void after_two(int n, double *to)
{
    for (int i = 0; i < n; i++)
        to[i + 2] = to[i] * 0.5 + b[i];
}

__attribute__((noinline)) static void after_three(int n, double *to)
{
    for (int i = 0; i < n; i++)
        to[i + 3] = to[i] * 0.5 + b[i];
}

/* Reads numbers that are overwritten two iterations later. */
__attribute__((noinline)) static void before_two(int n, double *to)
{
    for (int i = 0; i < n; i++)
        to[i] = to[i + 2] * 0.5 + b[i];
}

/* Two lines are written, and one of them is read. */
__attribute__((noinline)) static void both(int n, double *restrict x, double *restrict y, const double *restrict z)
{
    for (int i = 0; i < n; i++) {
        double value = z[i] * z[i] - x[i];
        x[i] = value > 0.0 ? value : -value;
        y[i] = value + y[i];
    }
}

/* The next iteration reuses a loaded value; the last one's value is live after the loop. */
__attribute__((noinline)) static double differences(int n, double *restrict to, const double *restrict from)
{
    double last = from[0];
    for (int i = 0; i < n; i++) {
        double next = from[i + 1];
        to[i] = next - last;
        last = next;
    }
    return last;
}

__attribute__((noinline)) static void floats(int n, float *restrict to, const float *restrict from)
{
    for (int i = 1; i < n - 1; i++)
        to[i] = from[i - 1] * 0.5f + from[i] + from[i + 1] * 0.25f;
}

__attribute__((noinline)) static void integers(int n, int64_t *restrict to, const int32_t *restrict from,
                                               uint8_t *restrict bytes)
{
    for (int i = 0; i < n; i++)
        to[i] = (to[i] << 3) ^ to[i + 1];
    for (int i = 0; i < n; i++)
        bytes[i] = (uint8_t)(bytes[i] * 5 + 3);
    for (int i = 0; i < n; i++)
        to[i] += from[i];
}

static void rows(int n)
{
    float x[MOST], y[MOST];
    int64_t longs[MOST + 1];
    int32_t ints[MOST];
    uint8_t bytes[MOST];
    for (int i = 0; i < MOST; i++) {
        x[i] = 0.3f + i;
        y[i] = -1.0f;
        longs[i] = i * INT64_C(0x123456789abcdef);
        ints[i] = i * 1234567 - 9;
        bytes[i] = (uint8_t)(i * 37);
    }
    longs[MOST] = 5;
    floats(n, y, x);
    integers(n, longs, ints, bytes);
    double sum = 0.0;
    uint64_t all = 0;
    for (int i = 0; i < MOST; i++) {
        sum += (i + 1) * y[i];
        all = all * 31 + (uint64_t)longs[i] + bytes[i];
    }
    printf("rows %d %.17g %llu\n", n, sum, (unsigned long long)all);
}

/* Solves a system of five equations: three loops, the inner ones shorter from row to row. */
__attribute__((noinline)) static void solve(double block[5][5], double x[5])
{
    double pivot[5];
    for (int k = 0; k < 5; k++) {
        pivot[k] = 1.0 / block[k][k];
        for (int m = k + 1; m < 5; m++) {
            double factor = pivot[k] * block[m][k];
            for (int n = k + 1; n < 5; n++)
                block[m][n] -= factor * block[k][n];
            x[m] -= factor * x[k];
        }
    }
    for (int k = 4; k >= 0; k--) {
        for (int n = k + 1; n < 5; n++)
            x[k] -= block[k][n] * x[n];
        x[k] *= pivot[k];
    }
}

/* Growing rows, with an exit from the middle one. */
__attribute__((noinline)) static int triangle(double m[7][7], double limit)
{
    int steps = 0;
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = m[i][j];
            for (int k = 0; k < j; k++)
                sum -= m[i][k] * m[j][k];
            m[i][j] = sum * 0.25;
            steps++;
            if (sum > limit)
                break;
        }
    }
    return steps;
}

static int calls;

__attribute__((noinline)) static void count(double *x)
{
    *x += ++calls;
}

/* A call in the innermost loop, whose length depends on both others. */
__attribute__((noinline)) static void called(double m[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = i; j < 4; j++)
            for (int k = i; k < j; k++)
                count(&m[j][k]);
}

static void nests(int seed)
{
    double block[5][5], x[5], m[7][7], s[4][4];
    for (int i = 0; i < 5; i++) {
        x[i] = i + seed;
        for (int j = 0; j < 5; j++)
            block[i][j] = (i == j) * 9.0 + (i * 3 + j * 5 + seed) % 7;
    }
    for (int i = 0; i < 49; i++)
        m[i / 7][i % 7] = (i * 11 + seed) % 17 * 0.125;
    for (int i = 0; i < 16; i++)
        s[i / 4][i % 4] = i;
    solve(block, x);
    int steps = triangle(m, 0.5 + seed * 0.1);
    called(s);
    double sum = 0.0;
    for (int i = 0; i < 49; i++)
        sum += (i + 1) * m[i / 7][i % 7];
    for (int i = 0; i < 16; i++)
        sum += (i + 1) * s[i / 4][i % 4];
    printf("nests %d %.17g %.17g %.17g %.17g %.17g %.17g\n", steps, sum, x[0], x[1], x[2], x[3], x[4]);
}

int main(void)
{
    for (int n = 0; n < MOST; n++) {
        reset();
        smooth(n, a, b, c);
        show("smooth", n);
        for (int distance = 0; distance < 8; distance++) {
            smooth(n, b + distance, b, c);
            after(n, a, distance);
        }
        show("after", n);
        reset();
        after_two(n, a);
        after_three(n, a + MOST);
        before_two(n, c);
        show("steps", n);
        both(n, a, b, c);
        printf("%.17g\n", differences(n, a + MOST, c));
        show("both", n);
        rows(n);
    }
    for (int seed = 0; seed < 12; seed++)
        nests(seed);
    return 0;
}
