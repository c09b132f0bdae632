/*
 * EP, the embarrassingly parallel benchmark (NAS-91-002, section 2.2.1): makes
 * 2^m pairs of uniform numbers, turns those inside the unit circle into pairs
 * of Gaussian deviates by the polar method, adds the deviates up and counts
 * them by square annulus.
 *
 * The pairs come in batches of 2^16. A batch's place in the one random
 * sequence is computed directly, so batches are independent and any thread may
 * do any of them (NAS-99-011 makes them one parallel loop). A batch's uniform
 * numbers are made first and used after, which keeps the serial recurrence of
 * the generator out of the loop with the logarithm.
 *
 * Timed: everything after a short warm-up. Checked: both sums.
 */
#include "common/npb.h"
#include "reference/ep.h"

#include <math.h>
#include <stdio.h>

enum {
    LOG2_PAIRS = NPB_PICK(NPB_EP_M_),
    LOG2_BATCH = 16,
    BATCH = 1 << LOG2_BATCH,
    BATCHES = 1 << (LOG2_PAIRS - LOG2_BATCH),
    ANNULI = 10
};

static const double SEED = 271828183.0;

/* Each thread's uniform numbers of one batch, and its counts. */
static double uniform[2 * BATCH];
static double annulus[ANNULI];
#pragma omp threadprivate(uniform, annulus)

struct sums {
    double x, y;
};

/* Turns the batch in `uniform` into deviates, counts them, adds them to s. */
static struct sums add_batch(struct sums s)
{
    for (int i = 0; i < BATCH; i++) {
        double x = 2.0 * uniform[2 * i] - 1.0;
        double y = 2.0 * uniform[2 * i + 1] - 1.0;
        double square = x * x + y * y;
        if (square <= 1.0) {
            double scale = sqrt(-2.0 * log(square) / square);
            double gx = x * scale;
            double gy = y * scale;
            annulus[(int)fmax(fabs(gx), fabs(gy))] += 1.0;
            s.x += gx;
            s.y += gy;
        }
    }
    return s;
}

/* Touches every page and the mathematical library once, and checks on the way
 * that the generator steps as NAS-91-002 says: the state after the whole of a
 * batch is the state that skipping it yields. */
static bool warm_up(void)
{
    bool right = true;
#pragma omp parallel reduction(&& : right)
    {
        double state = SEED;
        npb_vranlc(2 * BATCH, &state, NPB_LCG_A, uniform);
        double skipped = SEED;
        npb_randlc(&skipped, npb_lcg_power(NPB_LCG_A, 2 * BATCH));
        right = state == skipped && add_batch((struct sums){0.0, 0.0}).x != 0.0;
    }
    return right;
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
    bool generator_right = warm_up();

    double sx = 0.0, sy = 0.0;
    double count[ANNULI] = {0.0};
    double start = npb_wtime();
#pragma omp parallel
    {
        for (int i = 0; i < ANNULI; i++)
            annulus[i] = 0.0;
#pragma omp for reduction(+ : sx, sy) nowait
        for (int k = 0; k < BATCHES; k++) {
            double state = SEED;
            npb_randlc(&state,
                       npb_lcg_power(NPB_LCG_A, (int64_t)k * 2 * BATCH));
            npb_vranlc(2 * BATCH, &state, NPB_LCG_A, uniform);
            struct sums s = add_batch((struct sums){sx, sy});
            sx = s.x;
            sy = s.y;
        }
        for (int i = 0; i < ANNULI; i++) {
#pragma omp atomic
            count[i] += annulus[i];
        }
    }
    result.seconds = npb_wtime() - start;

    double pairs = 0.0;
    for (int i = 0; i < ANNULI; i++)
        pairs += count[i];
    printf(" Gaussian pairs: %.0f\n", pairs);
    for (int i = 0; i < ANNULI; i++)
        printf(" Annulus %d: %.0f\n", i, count[i]);

    sx = NPB_SPOIL(sx);
    result.verified = generator_right;
    result.verified &= npb_check("sum of X", sx, NPB_PICK(NPB_EP_SX_),
                                 NPB_EP_TOLERANCE);
    result.verified &= npb_check("sum of Y", sy, NPB_PICK(NPB_EP_SY_),
                                 NPB_EP_TOLERANCE);
    npb_report(&result);
    return npb_exit_status(&result);
}
