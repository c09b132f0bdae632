/*
 * LU, the lower-upper symmetric Gauss-Seidel benchmark (NAS-91-002, chapter
 * 3; NAS-95-020).
 *
 * Each step does one sweep of symmetric successive over-relaxation on the
 * linearised equation: a solve with the lower triangular factor (blts) in
 * ascending order of the points, then one with the upper factor (buts) in
 * descending order. At each point the 5x5 blocks that multiply the three
 * neighbours already passed, and the diagonal block, are formed anew (jacld,
 * jacu).
 *
 * A point depends on its predecessors in all three directions, so threads form
 * a pipeline, as NAS-99-011 describes: each owns a range of y and goes through
 * the planes of z; it starts a plane when the thread that owns the preceding
 * range has finished its part of it. One flag per thread tells how far it has
 * come. A waiting thread spins briefly and then yields, so that the pipeline
 * keeps moving when there are more threads than processors.
 *
 * The flow equations are in common/cfd.h.
 */
#define _POSIX_C_SOURCE 200809L

#include "common/npb.h"
#include "reference/lu.h"

#define CFD_N NPB_PICK(NPB_LU_N_)
#define DT NPB_PICK(NPB_LU_DT_)
#include "common/cfd.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>

static const double omega = 1.2; /* over-relaxation */

/* ---- the pipeline's flags ---- */

/* How many planes a thread has finished in this step, both sweeps counted; a
 * cache line for each thread. */
struct progress {
    int planes;
    char padding[64 - sizeof(int)];
};
static struct progress *progress;

/* Returns once the thread has finished so many planes; what it wrote before is
 * visible then. */
static void wait_for(int thread, int planes)
{
    enum { SPINS = 200 };
    for (int spins = 0;; spins++) {
        int seen;
#pragma omp atomic read
        seen = progress[thread].planes;
        if (seen >= planes)
            break;
        if (spins >= SPINS)
            sched_yield();
    }
#pragma omp flush
}

/* Makes what this thread wrote visible and tells how far it has come. */
static void post(int thread, int planes)
{
#pragma omp flush
#pragma omp atomic write
    progress[thread].planes = planes;
}

/* ---- one row of points ---- */

/* The blocks of one point: of its neighbour in each direction, and its own. */
struct blocks {
    double side[3][5][5];
    double own[5][5];
};

/* Forms the blocks, times omega, of the n points from p0 on; the neighbours are
 * those at -1 (sign -1, jacld) or at +1 (sign +1, jacu). */
CFD_INLINE void form_blocks(const int sign, int p0, int n,
                            struct blocks blocks[])
{
    const double f = sign * omega * DT * cfd_t2;
    const double v = -omega * DT * cfd_t1;
    const double twice[3] = {2.0 * DT * cfd_t1, 2.0 * DT * cfd_t1,
                             2.0 * DT * cfd_t1};
    for (int i = 0; i < n; i++) {
        cfd_jacobian(0, p0 + i + sign, f, v, blocks[i].side[0]);
        cfd_jacobian(1, p0 + i + sign * cfd_stride(1), f, v, blocks[i].side[1]);
        cfd_jacobian(2, p0 + i + sign * cfd_stride(2), f, v, blocks[i].side[2]);
        cfd_diagonal(p0 + i, twice, blocks[i].own);
    }
}

static void jacld(int p0, int n, struct blocks blocks[])
{
    form_blocks(-1, p0, n, blocks);
}

static void jacu(int p0, int n, struct blocks blocks[])
{
    form_blocks(1, p0, n, blocks);
}

/* x += block * y */
CFD_INLINE void add_product(double block[5][5], const double y[5], double x[5])
{
    for (int m = 0; m < 5; m++)
        for (int n = 0; n < 5; n++)
            x[m] += block[m][n] * y[n];
}

/* x becomes the solution of block * y = x, by Gaussian elimination without
 * pivoting, which leaves the upper factor in block. */
CFD_INLINE void solve_block(double block[5][5], double x[5])
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

/* Sum over the directions of block * neighbour's value. */
CFD_INLINE void gather(const int sign, int p, struct blocks *b, double sum[5])
{
    for (int m = 0; m < 5; m++)
        sum[m] = 0.0;
    add_product(b->side[2], cfd_rhs[p + sign * cfd_stride(2)], sum);
    add_product(b->side[1], cfd_rhs[p + sign * cfd_stride(1)], sum);
    add_product(b->side[0], cfd_rhs[p + sign], sum);
}

/* Lower triangular solution of the row (k, j). */
static void blts(int p0, int n, struct blocks blocks[])
{
    for (int i = 0; i < n; i++) {
        double sum[5];
        gather(-1, p0 + i, &blocks[i], sum);
        for (int m = 0; m < 5; m++)
            sum[m] = cfd_rhs[p0 + i][m] - sum[m];
        solve_block(blocks[i].own, sum);
        memcpy(cfd_rhs[p0 + i], sum, sizeof sum);
    }
}

/* Upper triangular solution of the row (k, j). */
static void buts(int p0, int n, struct blocks blocks[])
{
    for (int i = n - 1; i >= 0; i--) {
        double sum[5];
        gather(1, p0 + i, &blocks[i], sum);
        solve_block(blocks[i].own, sum);
        for (int m = 0; m < 5; m++)
            cfd_rhs[p0 + i][m] -= sum[m];
    }
}

/* ---- one step ---- */

/* Both sweeps; rhs becomes the update. */
static void sweep(void)
{
    const int n = CFD_N - 2;
#pragma omp parallel
    {
        const int me = omp_get_thread_num(), team = omp_get_num_threads();
        const int first = 1 + n * me / team, end = 1 + n * (me + 1) / team;
        struct blocks blocks[CFD_N - 2];

        progress[me].planes = 0;
#pragma omp barrier
        for (int k = 1; k <= n; k++) {
            if (me > 0)
                wait_for(me - 1, k);
            for (int j = first; j < end; j++) {
                jacld(CFD_AT(k, j, 1), n, blocks);
                blts(CFD_AT(k, j, 1), n, blocks);
            }
            post(me, k);
        }
#pragma omp barrier
        for (int k = n; k >= 1; k--) {
            if (me < team - 1)
                wait_for(me + 1, n + n + 1 - k);
            for (int j = end - 1; j >= first; j--) {
                jacu(CFD_AT(k, j, 1), n, blocks);
                buts(CFD_AT(k, j, 1), n, blocks);
            }
            post(me, n + n + 1 - k);
        }
    }
}

static void ssor(int steps)
{
    for (int it = 0; it < steps; it++) {
        cfd_compute_rhs(DT);
        sweep();
        cfd_add(1.0 / (omega * (2.0 - omega)));
    }
}

/* ---- surface integral ---- */

static double pressure(int p)
{
    const double *u = cfd_u[p];
    return cfd_c2 *
           (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
}

/* Integral of the pressure over the surface of the box of points lo ... hi, by
 * the trapezoidal rule on each grid cell. */
static double surface_integral(void)
{
    const int lo[3] = {1, 1, 2}, hi[3] = {CFD_N - 2, CFD_N - 3, CFD_N - 2};
    const double h = 1.0 / (CFD_N - 1);
    double sum = 0.0;
    for (int d = 0; d < 3; d++) {
        const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
        const int sd = cfd_stride(d), se = cfd_stride(e), sf = cfd_stride(f);
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int y = lo[f]; y < hi[f]; y++)
            for (int x = lo[e]; x < hi[e]; x++)
                for (int side = 0; side < 2; side++) {
                    int p = (side ? hi[d] : lo[d]) * sd + x * se + y * sf;
                    sum += pressure(p) + pressure(p + se) + pressure(p + sf) +
                           pressure(p + se + sf);
                }
    }
    return 0.25 * h * h * sum;
}

int main(void)
{
    const double n = CFD_N;
    const double residual_reference[5] = NPB_PICK(NPB_LU_RESIDUAL_RMS_);
    const double error_reference[5] = NPB_PICK(NPB_LU_ERROR_RMS_);
    struct npb_result result = {
        .name = "LU",
        .dimensions = 3,
        .size = {CFD_N, CFD_N, CFD_N},
        .iterations = NPB_PICK(NPB_LU_ITERATIONS_),
        .operation = "floating point",
    };
    npb_banner(&result);
    progress = calloc((size_t)omp_get_max_threads(), sizeof *progress);
    if (!progress) {
        fprintf(stderr, "no memory for the threads' flags\n");
        return 1;
    }

    /* One step untimed touches all data; then the problem starts afresh. */
    cfd_initialize_forcing();
    cfd_initialize();
    ssor(1);
    cfd_initialize();

    double start = npb_wtime();
    ssor(result.iterations);
    result.seconds = npb_wtime() - start;

    /* The count of operations per step that the benchmark's reports use. */
    result.operations =
        result.iterations *
        (1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010.0);
    cfd_compute_rhs(1.0);
    result.verified = cfd_verify(residual_reference, error_reference,
                                 NPB_LU_TOLERANCE);
    result.verified &=
        npb_check("surface", surface_integral(),
                  NPB_PICK(NPB_LU_SURFACE_INTEGRAL_), NPB_LU_TOLERANCE);
    npb_report(&result);
    free(progress);
    return npb_exit_status(&result);
}
