/*
 * CG for devices: see cg.c for the problem (NAS-91-002, section 2.2.3). The
 * host makes the matrix (common/sparse.h); from then on matrix and vectors stay
 * on the device.
 *
 * A row has some hundred elements and the smallest class too few rows for a
 * GPU, so LANES threads share a row: neighbours read neighbouring elements.
 * Each writes what it has summed to its own place, and the loop that makes the
 * scalar product of p and q adds the parts, as there is no other way to meet
 * within a loop that is divided over teams. A row starts at a multiple of
 * LANES, so no lane's reads straddle what memory delivers at once.
 *
 * What the scalar products yield is needed by the next loop, not by the host:
 * it stays on the device, in variables that live there. They are cleared by the
 * loops between, which have no other use for them.
 *
 * Timed: the inverse iterations after one for warm-up. Checked: the eigenvalue
 * estimate zeta.
 */
#include "../common/npb.h"
#include "../common/sparse.h"
#include "../reference/cg.h"

#include <math.h>
#include <stdio.h>

enum {
    ITERATIONS = NPB_PICK(NPB_CG_ITERATIONS_),
    CG_ITERATIONS = 25,
    LANES = 8,
    MAX_PADDED = MAX_NONZEROS + N * (LANES - 1)
};

/* The matrix as the device has it: rows from first[j] to last[j] - 1. */
static int first[N], last[N];
static int padded_column[MAX_PADDED];
static double padded_element[MAX_PADDED];

static double x[N], z[N], p[N], q[N], r[N];
static double part[N][LANES];

/* r r before and after a step, p q within it. Not static: clang gives only what
 * other files can see one place on host and device. */
double rho, rho_after, pq;
#pragma omp declare target(rho, rho_after, pq)

/* Copies the matrix, each row to a multiple of LANES; how long it is then. */
static int pad_rows(void)
{
    int next = 0;
    for (int j = 0; j < N; j++) {
        first[j] = next;
        for (int k = row_start[j]; k < row_start[j + 1]; k++, next++) {
            padded_column[next] = column[k];
            padded_element[next] = element[k];
        }
        last[j] = next;
        next = (next + LANES - 1) / LANES * LANES;
    }
    return next;
}

/* part = the matrix times v, LANES sums for each row. What a step left in the
 * scalar products is moved on. */
static void multiply(const double *v)
{
#pragma omp target teams distribute parallel for collapse(2)                  \
    map(present, alloc : v[ : N])
    for (int j = 0; j < N; j++)
        for (int lane = 0; lane < LANES; lane++) {
            if (j == 0 && lane == 0) {
                rho = rho_after;
                rho_after = 0.0;
                pq = 0.0;
            }
            double sum = 0.0;
            for (int k = first[j] + lane; k < last[j]; k += LANES)
                sum += padded_element[k] * v[padded_column[k]];
            part[j][lane] = sum;
        }
}

/* Row j of the product that `part` holds. */
#pragma omp begin declare target
static inline double sum_of_parts(const double *parts)
{
    double sum = 0.0;
    for (int lane = 0; lane < LANES; lane++)
        sum += parts[lane];
    return sum;
}
#pragma omp end declare target

/* z = 0, r = p = x. */
static void begin_solution(void)
{
#pragma omp target teams distribute parallel for reduction(+ : rho_after)
    for (int j = 0; j < N; j++) {
        z[j] = 0.0;
        r[j] = x[j];
        p[j] = x[j];
        rho_after += x[j] * x[j];
    }
}

/* One step of the conjugate gradient method. */
static void step(void)
{
    multiply(p);
#pragma omp target teams distribute parallel for reduction(+ : pq)
    for (int j = 0; j < N; j++) {
        q[j] = sum_of_parts(part[j]);
        pq += p[j] * q[j];
    }
#pragma omp target teams distribute parallel for reduction(+ : rho_after)
    for (int j = 0; j < N; j++) {
        double alpha = rho / pq;
        z[j] += alpha * p[j];
        r[j] -= alpha * q[j];
        rho_after += r[j] * r[j];
    }
#pragma omp target teams distribute parallel for
    for (int j = 0; j < N; j++)
        p[j] = r[j] + rho_after / rho * p[j];
}

/* One inverse iteration: z solves A z = x, x becomes z normalised. Returns the
 * new estimate of the eigenvalue; *residual is the norm of x - A z. */
static double inverse_iteration(double *residual)
{
    begin_solution();
    for (int it = 0; it < CG_ITERATIONS; it++)
        step();
    multiply(z);
#pragma omp target
    rho_after = 0.0;
    double squares = 0.0, xz = 0.0, zz = 0.0;
#pragma omp target teams distribute parallel for                              \
    reduction(+ : squares, xz, zz)
    for (int j = 0; j < N; j++) {
        double d = x[j] - sum_of_parts(part[j]);
        squares += d * d;
        xz += x[j] * z[j];
        zz += z[j] * z[j];
    }
    double scale = 1.0 / sqrt(zz);
#pragma omp target teams distribute parallel for
    for (int j = 0; j < N; j++)
        x[j] = scale * z[j];
    *residual = sqrt(squares);
    return SHIFT + 1.0 / xz;
}

static void start_vector(void)
{
#pragma omp target teams distribute parallel for
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
    int length = pad_rows();
    double residual, zeta = 0.0;
#pragma omp target data map(to : first, last, padded_column[ : length],       \
                                padded_element[ : length])                    \
    map(alloc : x, z, p, q, r, part)
    {
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
    }

    zeta = NPB_SPOIL(zeta);
    result.verified = npb_check("zeta", zeta, NPB_PICK(NPB_CG_ZETA_),
                                NPB_CG_TOLERANCE);
    npb_report(&result);
    return npb_exit_status(&result);
}
