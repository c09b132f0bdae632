/*
 * CG, the conjugate gradient benchmark (NAS-91-002, section 2.2.3): estimates
 * the smallest eigenvalue of a large sparse symmetric matrix by inverse
 * iteration, each step of which runs 25 iterations of the conjugate gradient
 * method without preconditioning.
 *
 * The matrix is made by common/sparse.h.
 *
 * NAS-99-011 puts the whole conjugate gradient solution in one parallel
 * region, with a worksharing loop for every vector operation; so does this.
 *
 * Timed: the inverse iterations after one for warm-up. Checked: the eigenvalue
 * estimate zeta.
 */
#include "common/npb.h"
#include "common/sparse.h"
#include "reference/cg.h"

#include <math.h>
#include <stdio.h>

enum {
    ITERATIONS = NPB_PICK(NPB_CG_ITERATIONS_),
    CG_ITERATIONS = 25
};

static double x[N], z[N], p[N], q[N], r[N];

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
