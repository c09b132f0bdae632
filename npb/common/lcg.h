/*
 * The benchmarks' random numbers in whole numbers: the sequence of random.c,
 * x <- a x mod 2^46, with 64-bit integers, whose products need no splitting
 * since what overflows is divided away anyhow. A GPU does that in a few
 * instructions, where the scheme in doubles takes some thirty and converts
 * four times. Everything is inline, so that devices have it too.
 */
#ifndef NPB_COMMON_LCG_H
#define NPB_COMMON_LCG_H

#include "npb.h"

#include <string.h>

#pragma omp begin declare target

#define NPB_LCG_MASK ((UINT64_C(1) << 46) - 1)

/* One step with the multiplier a; with a = npb_lcg_jump(n) it is n steps. */
static inline uint64_t npb_lcg_step(uint64_t x, uint64_t a)
{
    return x * a & NPB_LCG_MASK;
}

/* The generator's multiplier to the power n: what skips n steps. */
static inline uint64_t npb_lcg_jump(uint64_t n)
{
    uint64_t power = 1;
    for (uint64_t square = (uint64_t)NPB_LCG_A; n > 0; n >>= 1) {
        if (n & 1)
            power = npb_lcg_step(power, square);
        square = npb_lcg_step(square, square);
    }
    return power;
}

/* 2 + 2 x / 2^46, exactly: the state as the fraction of a double between 2 and
 * 4. Subtracting is cheaper for a GPU than converting an integer. */
static inline double npb_lcg_two_to_four(uint64_t x)
{
    uint64_t bits = UINT64_C(0x400) << 52 | x << 6;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* x / 2^46, what npb_randlc returns. */
static inline double npb_lcg_unit(uint64_t x)
{
    return 0.5 * npb_lcg_two_to_four(x) - 1.0;
}

/* 2 x / 2^46 - 1, between -1 and 1. */
static inline double npb_lcg_signed(uint64_t x)
{
    return npb_lcg_two_to_four(x) - 3.0;
}

#pragma omp end declare target

#endif
