/*
 * CG, the conjugate gradient benchmark (NAS-91-002, section 2.2.3): estimates
 * the smallest eigenvalue of a large sparse symmetric matrix by inverse
 * iteration, each step of which runs 25 iterations of the conjugate gradient
 * method without preconditioning.
 *
 * The matrix is a weighted sum of outer products of sparse random vectors plus
 * a shifted identity. The vectors follow one random sequence and are made by
 * one thread. The matrix is then built by rows: the vectors are indexed by the
 * rows they touch, and every row is summed by itself, so all rows can be built
 * at once.
 *
 * NAS-99-011 puts the whole conjugate gradient solution in one parallel
 * region, with a worksharing loop for every vector operation; so does this.
 *
 * Timed: the inverse iterations after one for warm-up. Checked: the eigenvalue
 * estimate zeta.
 */
#include "common/npb.h"
#include "reference/cg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    N = NPB_PICK(NPB_CG_NA_),
    NONZER = NPB_PICK(NPB_CG_NONZER_),
    ITERATIONS = NPB_PICK(NPB_CG_ITERATIONS_),
    CG_ITERATIONS = 25,
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

static double x[N], z[N], p[N], q[N], r[N];

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

/* Element j of the matrix times v. */
static inline double row_times(int j, const double *v)
{
    double sum = 0.0;
    for (int k = row_start[j]; k < row_start[j + 1]; k++)
        sum += element[k] * v[column[k]];
    return sum;
}

/* Solves A z = x approximately and returns the norm of x - A z. */
static double conjugate_gradient(void)
{
    double rho = 0.0, rho_before = 0.0, pq = 0.0, residual = 0.0;
#pragma omp parallel
    {
#pragma omp for schedule(static) reduction(+ : rho)
        for (int j = 0; j < N; j++) {
            z[j] = 0.0;
            r[j] = x[j];
            p[j] = x[j];
            rho += x[j] * x[j];
        }
        for (int it = 0; it < CG_ITERATIONS; it++) {
#pragma omp single
            {
                rho_before = rho;
                rho = 0.0;
                pq = 0.0;
            }
#pragma omp for schedule(static) nowait
            for (int j = 0; j < N; j++)
                q[j] = row_times(j, p);
            /* Same schedule, same rows: each thread reads its own q. */
#pragma omp for schedule(static) reduction(+ : pq)
            for (int j = 0; j < N; j++)
                pq += p[j] * q[j];
            double alpha = rho_before / pq;
#pragma omp for schedule(static) reduction(+ : rho)
            for (int j = 0; j < N; j++) {
                z[j] += alpha * p[j];
                r[j] -= alpha * q[j];
                rho += r[j] * r[j];
            }
            double beta = rho / rho_before;
#pragma omp for schedule(static)
            for (int j = 0; j < N; j++)
                p[j] = r[j] + beta * p[j];
        }
#pragma omp for schedule(static) reduction(+ : residual)
        for (int j = 0; j < N; j++) {
            double d = x[j] - row_times(j, z);
            residual += d * d;
        }
    }
    return sqrt(residual);
}

/* One inverse iteration: z solves A z = x, x becomes z normalised. Returns the
 * new estimate of the eigenvalue; *residual is the norm of x - A z. */
static double inverse_iteration(double *residual)
{
    *residual = conjugate_gradient();
    double xz = 0.0, zz = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : xz, zz)
    for (int j = 0; j < N; j++) {
        xz += x[j] * z[j];
        zz += z[j] * z[j];
    }
    double scale = 1.0 / sqrt(zz);
#pragma omp parallel for schedule(static)
    for (int j = 0; j < N; j++)
        x[j] = scale * z[j];
    return SHIFT + 1.0 / xz;
}

static void start_vector(void)
{
#pragma omp parallel for schedule(static)
    for (int j = 0; j < N; j++)
        x[j] = 1.0;
}

int main(void)
{
    double row_work = NONZER * (NONZER + 1);
    struct npb_result result = {
        .name = "CG",
        .dimensions = 1,
        .size = {N},
        .iterations = ITERATIONS,
        .operations = 2.0 * ITERATIONS * N *
                      (3.0 + row_work + 25.0 * (5.0 + row_work) + 3.0),
        .operation = "floating point",
    };
    npb_banner(&result);
    make_matrix();
    double residual, zeta = 0.0;
    start_vector();
    inverse_iteration(&residual);
    start_vector();

    double start = npb_wtime();
    for (int it = 1; it <= ITERATIONS; it++) {
        zeta = inverse_iteration(&residual);
        printf("   iteration %3d  residual %14.8E  zeta %20.13E\n", it,
               residual, zeta);
    }
    result.seconds = npb_wtime() - start;

    zeta = NPB_SPOIL(zeta);
    result.verified = npb_check("zeta", zeta, NPB_PICK(NPB_CG_ZETA_),
                                NPB_CG_TOLERANCE);
    npb_report(&result);
    return npb_exit_status(&result);
}
