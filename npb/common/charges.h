/*
 * MG's right-hand side, for every version of the benchmark (NAS-91-002,
 * section 2.2.2): random numbers at every point in the order of storage, of
 * which the ten largest become +1, the ten smallest -1 and the others 0. Here
 * is where they are; the layout of a grid is its version's own affair.
 *
 * Exactly one file of a program includes the header. Nothing here is timed.
 */
#ifndef NPB_COMMON_CHARGES_H
#define NPB_COMMON_CHARGES_H

#include "../reference/mg.h"
#include "npb.h"

#include <string.h>

enum {
    SIDE = NPB_PICK(NPB_MG_NX_),
    CHARGES = 10 /* of each sign */
};
_Static_assert(SIDE == NPB_PICK(NPB_MG_NY_) && SIDE == NPB_PICK(NPB_MG_NZ_),
               "the grid is a cube");

/* The CHARGES largest numbers seen, the smallest of them first, and where. To
 * keep the smallest numbers, store them with the sign turned. */
struct extremes {
    double value[CHARGES];
    int at[CHARGES][3];
};

static inline void keep(struct extremes *e, double number, int k, int j, int i)
{
    if (number <= e->value[0])
        return;
    int slot = 0;
    for (; slot + 1 < CHARGES && e->value[slot + 1] < number; slot++) {
        e->value[slot] = e->value[slot + 1];
        memcpy(e->at[slot], e->at[slot + 1], sizeof e->at[slot]);
    }
    e->value[slot] = number;
    e->at[slot][0] = k;
    e->at[slot][1] = j;
    e->at[slot][2] = i;
}

static void keep_all(struct extremes *into, const struct extremes *from)
{
    for (int s = 0; s < CHARGES; s++)
        keep(into, from->value[s], from->at[s][0], from->at[s][1],
             from->at[s][2]);
}

/* The places of the ten largest numbers, and of the ten smallest. */
static void find_charges(struct extremes *high, struct extremes *low)
{
    memset(high, 0, sizeof *high);
    for (int s = 0; s < CHARGES; s++)
        high->value[s] = -2.0;
    *low = *high;
#pragma omp parallel
    {
        struct extremes my_high = *high, my_low = *low;
        double line[SIDE];
#pragma omp for
        for (int k = 0; k < SIDE; k++) {
            double state = NPB_LCG_SEED;
            npb_randlc(&state,
                       npb_lcg_power(NPB_LCG_A, (int64_t)k * SIDE * SIDE));
            for (int j = 0; j < SIDE; j++) {
                npb_vranlc(SIDE, &state, NPB_LCG_A, line);
                for (int i = 0; i < SIDE; i++) {
                    keep(&my_high, line[i], k, j, i);
                    keep(&my_low, -line[i], k, j, i);
                }
            }
        }
#pragma omp critical
        {
            keep_all(high, &my_high);
            keep_all(low, &my_low);
        }
    }
}

#endif
