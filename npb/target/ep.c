/*
 * EP for devices: see ep.c for the problem (NAS-91-002, section 2.2.1).
 *
 * One `target` region: a loop over batches with a reduction. A batch is small
 * here, so that a GPU has enough of them for all its threads, and its uniform
 * numbers are used as they come: nothing is stored, so memory plays no part.
 * A batch counts by annulus in ten variables of its own; they are registers,
 * since the loop over them is unrolled, where an array that is indexed by a
 * deviate would lie in memory.
 *
 * Timed: the region. Checked: both sums, and that the generator steps as
 * NAS-91-002 says.
 */
#include "../common/lcg.h"
#include "../common/npb.h"
#include "../reference/ep.h"

#include <math.h>
#include <stdio.h>

enum {
    LOG2_PAIRS = NPB_PICK(NPB_EP_M_),
    LOG2_BATCH = 8,
    BATCH = 1 << LOG2_BATCH,
    BATCHES = 1 << (LOG2_PAIRS - LOG2_BATCH),
    ANNULI = 10
};

static const uint64_t SEED = 271828183;

struct totals {
    double x, y, count[ANNULI];
};

static struct totals deviates(int batches)
{
    double sx = 0.0, sy = 0.0, count[ANNULI] = {0.0};
#pragma omp target teams distribute parallel for                              \
    reduction(+ : sx, sy, count[ : ANNULI])
    for (int k = 0; k < batches; k++) {
        const uint64_t a = (uint64_t)NPB_LCG_A;
        uint64_t state =
            npb_lcg_step(SEED, npb_lcg_jump((uint64_t)k * 2 * BATCH));
        int mine[ANNULI] = {0};
        for (int i = 0; i < BATCH; i++) {
            state = npb_lcg_step(state, a);
            double x = npb_lcg_signed(state);
            state = npb_lcg_step(state, a);
            double y = npb_lcg_signed(state);
            double square = x * x + y * y;
            if (square <= 1.0) {
                double scale = sqrt(-2.0 * log(square) / square);
                double gx = x * scale;
                double gy = y * scale;
                int annulus = (int)fmax(fabs(gx), fabs(gy));
                for (int l = 0; l < ANNULI; l++)
                    mine[l] += l == annulus;
                sx += gx;
                sy += gy;
            }
        }
        for (int l = 0; l < ANNULI; l++)
            count[l] += mine[l];
    }
    struct totals t = {.x = sx, .y = sy};
    for (int l = 0; l < ANNULI; l++)
        t.count[l] = count[l];
    return t;
}

/* The generator in whole numbers against the published one in doubles. */
static bool generator_right(void)
{
    double state = (double)SEED;
    uint64_t whole = SEED;
    bool right = true;
    for (int i = 0; i < 2 * BATCH; i++) {
        double unit = npb_randlc(&state, NPB_LCG_A);
        whole = npb_lcg_step(whole, (uint64_t)NPB_LCG_A);
        right &= unit == npb_lcg_unit(whole);
    }
    return right && whole == npb_lcg_step(SEED, npb_lcg_jump(2 * BATCH));
}

int main(void)
{
    struct npb_result result = {
        .name = "EP",
        .dimensions = 1,
        .size = {(int64_t)1 << (LOG2_PAIRS + 1)},
        .operations = (double)((int64_t)1 << (LOG2_PAIRS + 1)),
        .operation = "random numbers",
    };
    npb_banner(&result);
    result.verified = generator_right();
    deviates(1); /* the device is started, the code is there */

    double start = npb_wtime();
    struct totals t = deviates(BATCHES);
    result.seconds = npb_wtime() - start;

    double pairs = 0.0;
    for (int i = 0; i < ANNULI; i++)
        pairs += t.count[i];
    printf(" Gaussian pairs: %.0f\n", pairs);
    for (int i = 0; i < ANNULI; i++)
        printf(" Annulus %d: %.0f\n", i, t.count[i]);

    t.x = NPB_SPOIL(t.x);
    result.verified &=
        npb_check("sum of X", t.x, NPB_PICK(NPB_EP_SX_), NPB_EP_TOLERANCE);
    result.verified &=
        npb_check("sum of Y", t.y, NPB_PICK(NPB_EP_SY_), NPB_EP_TOLERANCE);
    npb_report(&result);
    return npb_exit_status(&result);
}
