/*
 * FT, the spectral benchmark (NAS-91-002, section 2.2.4): solves the heat
 * equation on a periodic grid by one three-dimensional Fourier transform
 * forward, and for each time step a multiplication by decaying exponentials
 * and a transform back.
 *
 * A one-dimensional transform is Stockham's self-sorting one with radix two,
 * which needs no bit reversal. BLOCK lines are copied side by side into a
 * scratch array and transformed together: along y and z that turns strided
 * access into runs of BLOCK points, and the inner loops vectorise over lines.
 * NAS-99-011 makes the loops over planes parallel; so does this.
 *
 * Both directions leave out the factor 1/(nx ny nz); the checksums put it in.
 *
 * Timed: all of it - exponentials, initial values, roots of unity, transforms,
 * checksums - after one untimed set-up and forward transform. Checked: the
 * complex checksum of every time step.
 *
 * Class C has more than 2 GiB of static arrays: it needs -mcmodel=medium.
 */
#include "common/npb.h"
#include "reference/ft.h"

#include <math.h>
#include <stdio.h>

enum {
    NX = NPB_PICK(NPB_FT_NX_),
    NY = NPB_PICK(NPB_FT_NY_),
    NZ = NPB_PICK(NPB_FT_NZ_),
    ITERATIONS = NPB_PICK(NPB_FT_ITERATIONS_),
    LONGEST = NX > NY ? (NX > NZ ? NX : NZ) : (NY > NZ ? NY : NZ),
    ROW = NX + 1, /* odd, so that planes do not fall on the same cache sets */
    BLOCK = 16,
    CHECKED = 1024
};
_Static_assert(NX % BLOCK == 0 && NY % BLOCK == 0, "blocks fill their lines");

static const double POINTS = (double)NX * NY * NZ;
static const double ALPHA = 1e-6;

struct complex_number {
    double re, im;
};
typedef struct complex_number complex_number;
typedef complex_number scratch[LONGEST][BLOCK];

static complex_number spectrum[NZ][NY][ROW];
static complex_number field[NZ][NY][ROW];
static double decay[NZ][NY][ROW];
static complex_number root[LONGEST / 2]; /* exp(2 pi i p / LONGEST) */

static complex_number checksum[ITERATIONS];
static const double reference[ITERATIONS][2] = NPB_PICK(NPB_FT_CHECKSUMS_);

/* Place i of n on an axis as a frequency from -n/2 to n/2 - 1. */
static inline int frequency(int i, int n)
{
    return i < n / 2 ? i : i - n;
}

/* How much each component decays in one time step. */
static void make_decay(void)
{
    const double rate = -4.0 * ALPHA * NPB_PI * NPB_PI;
#pragma omp parallel for
    for (int k = 0; k < NZ; k++) {
        int fz = frequency(k, NZ);
        for (int j = 0; j < NY; j++) {
            int fy = frequency(j, NY);
            for (int i = 0; i < NX; i++) {
                int fx = frequency(i, NX);
                decay[k][j][i] = exp(rate * (fx * fx + fy * fy + fz * fz));
            }
        }
    }
}

/* Random numbers in the order of storage, real before imaginary part. */
static void make_initial_field(void)
{
#pragma omp parallel for
    for (int k = 0; k < NZ; k++) {
        double state = NPB_LCG_SEED;
        npb_randlc(&state,
                   npb_lcg_power(NPB_LCG_A, (int64_t)2 * k * NX * NY));
        for (int j = 0; j < NY; j++)
            npb_vranlc(2 * NX, &state, NPB_LCG_A, &field[k][j][0].re);
    }
}

static void make_roots(void)
{
    for (int p = 0; p < LONGEST / 2; p++) {
        double angle = 2.0 * NPB_PI * p / LONGEST;
        root[p].re = cos(angle);
        root[p].im = sin(angle);
    }
}

/* The butterflies of one pair of inputs and one root over `run` points. */
static inline void butterflies(int run, complex_number w,
                               const complex_number *restrict low,
                               const complex_number *restrict high,
                               complex_number *restrict even,
                               complex_number *restrict odd)
{
    for (int e = 0; e < run; e++) {
        double re = low[e].re - high[e].re;
        double im = low[e].im - high[e].im;
        even[e].re = low[e].re + high[e].re;
        even[e].im = low[e].im + high[e].im;
        odd[e].re = w.re * re - w.im * im;
        odd[e].im = w.re * im + w.im * re;
    }
}

/* Transforms the BLOCK lines of n points in a, with b as the other buffer;
 * sign is 1 or -1, the sign of the exponent. Returns the buffer that holds the
 * result. Each stage halves the length of the parts and doubles their number. */
static scratch *transform_lines(int n, int sign, scratch *a, scratch *b)
{
    for (int length = n, parts = 1; length > 1; length /= 2, parts *= 2) {
        int half = length / 2;
        for (int p = 0; p < half; p++) {
            complex_number w = root[p * (LONGEST / length)];
            w.im *= sign;
            butterflies(parts * BLOCK, w, (*a)[p * parts],
                        (*a)[(p + half) * parts], (*b)[2 * p * parts],
                        (*b)[(2 * p + 1) * parts]);
        }
        scratch *t = a;
        a = b;
        b = t;
    }
    return a;
}

typedef complex_number grid[NZ][NY][ROW];

static void transform_x(int sign, grid from, grid to)
{
#pragma omp parallel for collapse(2)
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j += BLOCK) {
            scratch a, b;
            for (int l = 0; l < BLOCK; l++)
                for (int i = 0; i < NX; i++)
                    a[i][l] = from[k][j + l][i];
            scratch *done = transform_lines(NX, sign, &a, &b);
            for (int l = 0; l < BLOCK; l++)
                for (int i = 0; i < NX; i++)
                    to[k][j + l][i] = (*done)[i][l];
        }
    }
}

static void transform_y(int sign, grid from, grid to)
{
#pragma omp parallel for collapse(2)
    for (int k = 0; k < NZ; k++) {
        for (int i = 0; i < NX; i += BLOCK) {
            scratch a, b;
            for (int j = 0; j < NY; j++)
                for (int l = 0; l < BLOCK; l++)
                    a[j][l] = from[k][j][i + l];
            scratch *done = transform_lines(NY, sign, &a, &b);
            for (int j = 0; j < NY; j++)
                for (int l = 0; l < BLOCK; l++)
                    to[k][j][i + l] = (*done)[j][l];
        }
    }
}

static void transform_z(int sign, grid from, grid to)
{
#pragma omp parallel for collapse(2)
    for (int j = 0; j < NY; j++) {
        for (int i = 0; i < NX; i += BLOCK) {
            scratch a, b;
            for (int k = 0; k < NZ; k++)
                for (int l = 0; l < BLOCK; l++)
                    a[k][l] = from[k][j][i + l];
            scratch *done = transform_lines(NZ, sign, &a, &b);
            for (int k = 0; k < NZ; k++)
                for (int l = 0; l < BLOCK; l++)
                    to[k][j][i + l] = (*done)[k][l];
        }
    }
}

/* Sets up and transforms the initial field to the spectrum. */
static void begin(void)
{
    make_decay();
    make_initial_field();
    make_roots();
    transform_x(1, field, field);
    transform_y(1, field, field);
    transform_z(1, field, spectrum);
}

/* One time step in the spectrum, and a copy of it to be transformed back. */
static void evolve(void)
{
#pragma omp parallel for
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j++) {
            for (int i = 0; i < NX; i++) {
                spectrum[k][j][i].re *= decay[k][j][i];
                spectrum[k][j][i].im *= decay[k][j][i];
                field[k][j][i] = spectrum[k][j][i];
            }
        }
    }
}

static complex_number field_checksum(void)
{
    double re = 0.0, im = 0.0;
#pragma omp parallel for reduction(+ : re, im)
    for (int n = 1; n <= CHECKED; n++) {
        complex_number c = field[5 * n % NZ][3 * n % NY][n % NX];
        re += c.re;
        im += c.im;
    }
    return (complex_number){re / POINTS, im / POINTS};
}

static bool verify(void)
{
    bool right = true;
    for (int it = 0; it < ITERATIONS; it++) {
        char what[32];
        snprintf(what, sizeof what, "step %d re", it + 1);
        right &= npb_check(what, checksum[it].re, reference[it][0],
                           NPB_FT_TOLERANCE);
        snprintf(what, sizeof what, "step %d im", it + 1);
        right &= npb_check(what, checksum[it].im, reference[it][1],
                           NPB_FT_TOLERANCE);
    }
    return right;
}

int main(void)
{
    struct npb_result result = {
        .name = "FT",
        .dimensions = 3,
        .size = {NX, NY, NZ},
        .iterations = ITERATIONS,
        .operations = POINTS * (14.8157 + 7.19641 * log(POINTS) +
                                (5.23518 + 7.21113 * log(POINTS)) * ITERATIONS),
        .operation = "floating point",
    };
    npb_banner(&result);
    begin();

    double start = npb_wtime();
    begin();
    for (int it = 0; it < ITERATIONS; it++) {
        evolve();
        transform_z(-1, field, field);
        transform_y(-1, field, field);
        transform_x(-1, field, field);
        checksum[it] = field_checksum();
    }
    result.seconds = npb_wtime() - start;

    checksum[ITERATIONS - 1].re = NPB_SPOIL(checksum[ITERATIONS - 1].re);
    result.verified = verify();
    npb_report(&result);
    return npb_exit_status(&result);
}
