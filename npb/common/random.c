/*
 * The benchmarks' random numbers: x <- a x mod 2^46 in double arithmetic, the
 * scheme of NAS-91-002, section 2.3. Every number is split at bit 23, so that
 * each product stays below 2^47 and is exact in a double's 53 bits; the
 * sequence is therefore the same on every machine with IEEE doubles.
 *
 * No state is kept here: callers own their seeds, so threads do not meet.
 */
#include "npb.h"

static const double TWO_23 = 8388608.0;
static const double TWO_46 = 70368744177664.0;
static const double TWO_M23 = 1.0 / 8388608.0;
static const double TWO_M46 = 1.0 / 70368744177664.0;

/* A whole number below 2^46 as high * 2^23 + low. */
struct halves {
    double high, low;
};

static inline struct halves split(double v)
{
    struct halves h;
    h.high = (double)(int)(TWO_M23 * v);
    h.low = v - TWO_23 * h.high;
    return h;
}

/* a x mod 2^46. The product of the high halves is a multiple of 2^46 and
 * drops out; of the crossed products only the low 23 bits matter. */
static inline double multiply(struct halves a, double x)
{
    struct halves b = split(x);
    double crossed = a.high * b.low + a.low * b.high;
    double kept = crossed - TWO_23 * (double)(int)(TWO_M23 * crossed);
    double sum = TWO_23 * kept + a.low * b.low;
    return sum - TWO_46 * (double)(int)(TWO_M46 * sum);
}

double npb_randlc(double *x, double a)
{
    *x = multiply(split(a), *x);
    return TWO_M46 * *x;
}

void npb_vranlc(int n, double *x, double a, double *y)
{
    struct halves h = split(a);
    double state = *x;
    for (int i = 0; i < n; i++) {
        state = multiply(h, state);
        y[i] = TWO_M46 * state;
    }
    *x = state;
}

double npb_lcg_power(double a, int64_t n)
{
    double power = 1.0;
    for (double square = a; n > 0; n >>= 1) {
        if (n & 1)
            power = multiply(split(square), power);
        square = multiply(split(square), square);
    }
    return power;
}
