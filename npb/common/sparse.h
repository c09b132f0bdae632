/*
 * CG's matrix, for every version of the benchmark (NAS-91-002, section 2.2.3):
 * a weighted sum of outer products of sparse random vectors plus a shifted
 * identity, by compressed rows with ascending columns.
 *
 * The vectors follow one random sequence and are made by one thread. The
 * matrix is then built by rows: the vectors are indexed by the rows they
 * touch, and every row is summed by itself, so all rows can be built at once.
 *
 * The header defines static arrays, so exactly one file of a program includes
 * it. Nothing here is timed.
 */
#ifndef NPB_COMMON_SPARSE_H
#define NPB_COMMON_SPARSE_H

#include "../reference/cg.h"
#include "npb.h"

#include <math.h>
#include <string.h>

enum {
    N = NPB_PICK(NPB_CG_NA_),
    NONZER = NPB_PICK(NPB_CG_NONZER_),
    LENGTH = NONZER + 1,              /* elements of a random vector at most */
    MAX_NONZEROS = N * LENGTH * LENGTH,
    WORDS = (N + 63) / 64             /* of a set of columns */
};

static const double SHIFT = NPB_PICK(NPB_CG_SHIFT_);
static const double RCOND = NPB_PICK(NPB_CG_RCOND_);

/* The matrix by compressed rows, columns ascending in each row. */
static int row_start[N + 1];
static int column[MAX_NONZEROS];
static double element[MAX_NONZEROS];

/* The random vectors: count[i] elements of vector i, and its weight. */
static int count[N];
static int position[N][LENGTH];
static double value[N][LENGTH];
static double weight[N];

/* Which vectors touch a row: touch[touch_start[j]..touch_start[j + 1]] holds
 * i * LENGTH + k where position[i][k] is j. */
static int touch_start[N + 2];
static int touch[N * LENGTH];

/* Draws NONZER distinct places and their values for vector i, then sets the
 * element at i itself to one half. Draws of a place past N or of one already
 * drawn are thrown away, as the report has it. */
static void make_vector(int i, int power_of_two, double *state)
{
    int n = 0;
    while (n < NONZER) {
        double drawn = npb_randlc(state, NPB_LCG_A);
        int place = (int)(power_of_two * npb_randlc(state, NPB_LCG_A));
        bool taken = place >= N;
        for (int k = 0; k < n && !taken; k++)
            taken = position[i][k] == place;
        if (!taken) {
            value[i][n] = drawn;
            position[i][n++] = place;
        }
    }
    int k = 0;
    while (k < n && position[i][k] != i)
        k++;
    position[i][k] = i;
    value[i][k] = 0.5;
    count[i] = k < n ? n : n + 1;
}

static void make_vectors(void)
{
    int power_of_two = 1;
    while (power_of_two < N)
        power_of_two *= 2;
    double state = NPB_LCG_SEED;
    npb_randlc(&state, NPB_LCG_A); /* the sequence starts with an unused one */
    double ratio = pow(RCOND, 1.0 / N);
    double size = 1.0;
    for (int i = 0; i < N; i++) {
        make_vector(i, power_of_two, &state);
        weight[i] = size;
        size *= ratio;
    }
}

/* Indexes the vectors by row. The counts of row j go two places up, so that
 * after summing, touch_start[j + 1] is where row j starts; filling moves it to
 * where row j ends, which is where row j + 1 starts. */
static void index_vectors(void)
{
    memset(touch_start, 0, sizeof touch_start);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < count[i]; k++)
            touch_start[position[i][k] + 2]++;
    for (int j = 0; j < N; j++)
        touch_start[j + 2] += touch_start[j + 1];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < count[i]; k++)
            touch[touch_start[position[i][k] + 1]++] = i * LENGTH + k;
}

/* Marks the columns of row j in `set`. */
static void row_pattern(int j, uint64_t *set)
{
    memset(set, 0, WORDS * sizeof *set);
    for (int t = touch_start[j]; t < touch_start[j + 1]; t++) {
        int i = touch[t] / LENGTH;
        for (int k = 0; k < count[i]; k++)
            set[position[i][k] / 64] |= UINT64_C(1) << position[i][k] % 64;
    }
}

/* Sums row j up in `sum` (all zero before and after) and stores it. Vector i
 * gives its outer product's row, weighted; the diagonal gets RCOND - SHIFT. */
static void build_row(int j, const uint64_t *set, double *sum)
{
    for (int t = touch_start[j]; t < touch_start[j + 1]; t++) {
        int i = touch[t] / LENGTH;
        double scale = weight[i] * value[i][touch[t] % LENGTH];
        for (int k = 0; k < count[i]; k++)
            sum[position[i][k]] += value[i][k] * scale;
    }
    sum[j] += RCOND - SHIFT;
    int next = row_start[j];
    for (int w = 0; w < WORDS; w++) {
        for (uint64_t rest = set[w]; rest != 0; rest &= rest - 1) {
            int c = 64 * w + __builtin_ctzll(rest);
            column[next] = c;
            element[next++] = sum[c];
            sum[c] = 0.0;
        }
    }
}

static void make_matrix(void)
{
    make_vectors();
    index_vectors();
#pragma omp parallel
    {
        static uint64_t set[WORDS];
        static double sum[N];
#pragma omp threadprivate(set, sum)
#pragma omp for schedule(static)
        for (int j = 0; j < N; j++) {
            row_pattern(j, set);
            int size = 0;
            for (int w = 0; w < WORDS; w++)
                size += __builtin_popcountll(set[w]);
            row_start[j + 1] = size;
        }
#pragma omp single
        for (int j = 0; j < N; j++)
            row_start[j + 1] += row_start[j];
#pragma omp for schedule(static)
        for (int j = 0; j < N; j++) {
            row_pattern(j, set);
            build_row(j, set, sum);
        }
    }
}

#endif
