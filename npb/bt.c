/*
 * BT, the block tridiagonal benchmark (NAS-91-002, chapter 3; NAS-95-020).
 *
 * Each step solves (I - dt Lx)(I - dt Ly)(I - dt Lz) du = dt (forcing + L u) by
 * alternating directions: along every grid line of a direction there is a
 * system, tridiagonal in 5x5 blocks, which block elimination without pivoting
 * solves. Lines are independent, so threads share them out: planes of z for
 * the x and y sweeps, planes of y for the z sweep (as NAS-99-011 places it).
 *
 * The implicit operator leaves out the fourth-difference dissipation, as the
 * benchmark demands. The flow equations themselves are in common/cfd.h.
 */
#include "common/npb.h"
#include "reference/bt.h"

#define CFD_N NPB_PICK(NPB_BT_N_)
#define DT NPB_PICK(NPB_BT_DT_)
#include "common/cfd.h"

/* One block row of a line after elimination: x[i] = r - c x[i + 1]. While it is
 * being eliminated b is its diagonal block. Together the 5 rows of (b r c) are
 * the augmented matrix; the twelfth column pads. */
enum { B = 0, R = 5, C = 6, COLUMNS = 12 };
typedef double block_row[5][COLUMNS];

/* row -= a * before's (r c), into row's (r b). */
CFD_INLINE void subtract_product(double a[5][5], block_row before,
                                 block_row row)
{
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < 5; k++) {
            for (int n = 0; n < 5; n++)
                row[m][B + n] -= a[m][k] * before[k][C + n];
            row[m][R] -= a[m][k] * before[k][R];
        }
}

/* Gauss-Jordan elimination: b becomes I, (r c) is multiplied by b's inverse. */
CFD_INLINE void eliminate(block_row row)
{
    for (int k = 0; k < 5; k++) {
        double pivot = 1.0 / row[k][B + k];
        for (int n = k + 1; n < COLUMNS; n++)
            row[k][n] *= pivot;
        for (int m = 0; m < 5; m++) {
            if (m == k)
                continue;
            double factor = row[m][B + k];
            for (int n = k + 1; n < COLUMNS; n++)
                row[m][n] -= factor * row[k][n];
        }
    }
}

/* Solves the line of direction d whose boundary point has number p0; the
 * update vanishes on the boundary. */
CFD_INLINE void solve_line(const int d, int p0)
{
    const int s = cfd_stride(d);
    const double f = DT * cfd_t2, v = DT * cfd_t1;
    const double twice[3] = {d == 0 ? 2.0 * v : 0.0, d == 1 ? 2.0 * v : 0.0,
                             d == 2 ? 2.0 * v : 0.0};
    block_row row[CFD_N - 1];

    memset(row[0], 0, sizeof row[0]);
    for (int i = 1; i <= CFD_LAST; i++) {
        int p = p0 + i * s;
        double a[5][5], b[5][5], c[5][5];
        cfd_jacobian(d, p - s, -f, -v, a);
        cfd_diagonal(p, twice, b);
        cfd_jacobian(d, p + s, f, -v, c);
        for (int m = 0; m < 5; m++) {
            for (int n = 0; n < 5; n++) {
                row[i][m][B + n] = b[m][n];
                row[i][m][C + n] = c[m][n];
            }
            row[i][m][R] = cfd_rhs[p][m];
            row[i][m][COLUMNS - 1] = 0.0;
        }
        subtract_product(a, row[i - 1], row[i]);
        eliminate(row[i]);
    }
    double x[5] = {0.0};
    for (int i = CFD_LAST; i >= 1; i--) {
        double *rhs = cfd_rhs[p0 + i * s];
        for (int m = 0; m < 5; m++) {
            rhs[m] = row[i][m][R];
            for (int n = 0; n < 5; n++)
                rhs[m] -= row[i][m][C + n] * x[n];
        }
        memcpy(x, rhs, sizeof x);
    }
}

static void x_solve(void)
{
#pragma omp parallel for schedule(static)
    for (int k = 1; k <= CFD_LAST; k++)
        for (int j = 1; j <= CFD_LAST; j++)
            solve_line(0, CFD_AT(k, j, 0));
}

static void y_solve(void)
{
#pragma omp parallel for schedule(static)
    for (int k = 1; k <= CFD_LAST; k++)
        for (int i = 1; i <= CFD_LAST; i++)
            solve_line(1, CFD_AT(k, 0, i));
}

static void z_solve(void)
{
#pragma omp parallel for schedule(static)
    for (int j = 1; j <= CFD_LAST; j++)
        for (int i = 1; i <= CFD_LAST; i++)
            solve_line(2, CFD_AT(0, j, i));
}

static void step(void)
{
    cfd_compute_rhs(DT);
    x_solve();
    y_solve();
    z_solve();
    cfd_add(1.0);
}

int main(void)
{
    const double n = CFD_N;
    const double residual_reference[5] = NPB_PICK(NPB_BT_RESIDUAL_RMS_);
    const double error_reference[5] = NPB_PICK(NPB_BT_ERROR_RMS_);
    struct npb_result result = {
        .name = "BT",
        .dimensions = 3,
        .size = {CFD_N, CFD_N, CFD_N},
        .iterations = NPB_PICK(NPB_BT_ITERATIONS_),
        .operation = "floating point",
    };
    npb_banner(&result);

    /* One step untimed touches all data; then the problem starts afresh. */
    cfd_initialize_forcing();
    cfd_initialize();
    step();
    cfd_initialize();

    double start = npb_wtime();
    for (int it = 0; it < result.iterations; it++)
        step();
    result.seconds = npb_wtime() - start;

    /* The count of operations per step that the benchmark's reports use. */
    result.operations =
        result.iterations *
        (3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n);
    cfd_compute_rhs(1.0);
    result.verified = cfd_verify(residual_reference, error_reference,
                                 NPB_BT_TOLERANCE);
    npb_report(&result);
    return npb_exit_status(&result);
}
