/*
 * SP, the scalar pentadiagonal benchmark (NAS-91-002, chapter 3; NAS-95-020).
 *
 * Each step solves the same equation as BT by alternating directions, but each
 * direction's flux Jacobian is first diagonalised: in the variables that belong
 * to its eigenvectors the five equations of a line fall apart into scalar
 * systems with the eigenvalues v, v, v, v + c, v - c (c the speed of sound).
 * The implicit fourth-difference dissipation makes them pentadiagonal. Between
 * the directions stand small changes of variables: txinvr, ninvr, pinvr and
 * tzetar, named as in the report.
 *
 * Lines are independent. A thread takes LANES neighbouring lines at a time, so
 * that their eliminations, each a chain of dependent operations, overlap. As
 * NAS-99-011 places it, threads share out planes of z for the x and y sweeps
 * and planes of y for the z sweep. The flow equations are in common/cfd.h.
 */
#include "common/npb.h"
#include "reference/sp.h"

#define CFD_N NPB_PICK(NPB_SP_N_)
#define DT NPB_PICK(NPB_SP_DT_)
#define CFD_WITH_SPEED 1
#include "common/cfd.h"

enum { LANES = 4 };
typedef double lanes[LANES];

static const double bt = 0.70710678118654752440; /* sqrt(1/2) */

/* ---- changes of variables: r (5 components) at one point ---- */

/* From conserved quantities to the x direction's eigenvectors. */
CFD_INLINE void txinvr(int p, double r[5])
{
    double rho_i = cfd_rho_i[p], c = cfd_speed[p];
    double v0 = cfd_vel[0][p], v1 = cfd_vel[1][p], v2 = cfd_vel[2][p];
    double pressure = cfd_c2 / (c * c) *
                      (cfd_qs[p] * r[0] - v0 * r[1] - v1 * r[2] - v2 * r[3] +
                       r[4]);
    double along = bt * rho_i * (v0 * r[0] - r[1]);
    double sound = bt * rho_i * c * pressure;
    double r0 = r[0], r2 = r[2];

    r[0] = r0 - pressure;
    r[1] = -rho_i * (v2 * r0 - r[3]);
    r[2] = rho_i * (v1 * r0 - r2);
    r[3] = sound - along;
    r[4] = sound + along;
}

/* From x to y eigenvectors. */
CFD_INLINE void ninvr(double r[5])
{
    double r0 = r[0], along = bt * r[2], sound = 0.5 * (r[3] + r[4]);
    r[0] = -r[1];
    r[1] = r0;
    r[2] = bt * (r[3] - r[4]);
    r[3] = sound - along;
    r[4] = sound + along;
}

/* From y to z eigenvectors. */
CFD_INLINE void pinvr(double r[5])
{
    double r1 = r[1], along = bt * r[0], sound = 0.5 * (r[3] + r[4]);
    r[0] = bt * (r[3] - r[4]);
    r[1] = -r[2];
    r[2] = r1;
    r[3] = sound - along;
    r[4] = sound + along;
}

/* From z eigenvectors back to conserved quantities. */
CFD_INLINE void tzetar(int p, double r[5])
{
    double rho = cfd_u[p][0], c = cfd_speed[p];
    double v0 = cfd_vel[0][p], v1 = cfd_vel[1][p], v2 = cfd_vel[2][p];
    double sound = bt * rho / c * (r[3] + r[4]);
    double mass = r[2] + sound;
    double along = bt * rho * (r[3] - r[4]);
    double m0 = rho * r[0], m1 = rho * r[1];

    r[0] = mass;
    r[1] = v0 * mass - m1;
    r[2] = v1 * mass + m0;
    r[3] = v2 * mass + along;
    r[4] = v1 * m0 - v0 * m1 + cfd_qs[p] * mass + 2.5 * c * c * sound +
           v2 * along;
}

/* ---- one batch of lines ---- */

/* Implicit fourth-difference dissipation of the rows at index i: weights of
 * the neighbours at -2 ... +2, cut next to the boundary. */
static void dissipation(int i, double w[5])
{
    const double f = DT * cfd_dssp;
    w[0] = i < 3 ? 0.0 : f;
    w[1] = i == 1 ? 0.0 : -4.0 * f;
    w[2] = i == 1 || i == CFD_N - 2 ? 5.0 * f : 6.0 * f;
    w[3] = i == CFD_N - 2 ? 0.0 : -4.0 * f;
    w[4] = i > CFD_N - 4 ? 0.0 : f;
}

/* What elimination leaves of a row: x[i] = r - e x[i + 1] - f x[i + 2], for
 * each of the three matrices, with eigenvalue v, v + c, v - c. */
struct upper_row {
    lanes e[3], f[3];
};

/* Pentadiagonal solution of LANES lines of direction d side by side. Lane l's
 * boundary point has number p0[l]. x is the right-hand side and then the
 * solution; it vanishes at the boundary indices. */
CFD_INLINE void solve_lanes(const int d, const int p0[LANES],
                            lanes x[CFD_N][5])
{
    const int s = cfd_stride(d);
    const double first = DT * cfd_t2, second = DT * cfd_t1;
    struct upper_row upper[CFD_N];
    lanes v[CFD_N], c[CFD_N], damp[CFD_N];

    for (int i = 0; i < CFD_N; i++)
        for (int l = 0; l < LANES; l++) {
            int p = p0[l] + i * s;
            /* The largest of the five viscous coefficients, c1 c5 > 4/3. */
            double viscous = cfd_c1345 * cfd_rho_i[p];
            v[i][l] = first * cfd_vel[d][p];
            c[i][l] = first * cfd_speed[p];
            damp[i][l] = second * (cfd_d[d] + viscous);
        }

    memset(upper[0].e, 0, sizeof upper[0]);
    for (int i = 1; i <= CFD_LAST; i++) {
        const struct upper_row *u1 = &upper[i - 1];
        const struct upper_row *u2 = &upper[i < 2 ? 0 : i - 2];
        lanes *x1 = x[i - 1], *x2 = x[i < 2 ? 0 : i - 2];
        double w[5];
        dissipation(i, w);
        for (int t = 0; t < 3; t++) {
            const double sound = t == 0 ? 0.0 : t == 1 ? 1.0 : -1.0;
            const int m0 = t == 0 ? 0 : t + 2, m1 = t + 3;
            for (int l = 0; l < LANES; l++) {
                double a1 = w[1] - v[i - 1][l] - damp[i - 1][l];
                double a2 = 1.0 + w[2] + 2.0 * damp[i][l];
                double a3 = w[3] + v[i + 1][l] - damp[i + 1][l];
                if (t != 0) {
                    a1 -= sound * c[i - 1][l];
                    a3 += sound * c[i + 1][l];
                }
                a1 -= w[0] * u2->e[t][l];
                a2 -= w[0] * u2->f[t][l] + a1 * u1->e[t][l];
                a3 -= a1 * u1->f[t][l];
                double pivot = 1.0 / a2;
                upper[i].e[t][l] = a3 * pivot;
                upper[i].f[t][l] = w[4] * pivot;
                for (int m = m0; m < m1; m++)
                    x[i][m][l] = (x[i][m][l] - w[0] * x2[m][l] -
                                  a1 * x1[m][l]) *
                                 pivot;
            }
        }
    }
    for (int i = CFD_LAST - 1; i >= 1; i--)
        for (int m = 0; m < 5; m++) {
            const int t = m < 3 ? 0 : m - 2;
            for (int l = 0; l < LANES; l++)
                x[i][m][l] -= upper[i].e[t][l] * x[i + 1][m][l] +
                              upper[i].f[t][l] * x[i + 2][m][l];
        }
}

/* Solves the lines of direction d whose boundary points have the numbers
 * start + l * step for l from 0 to N - 3, then changes variables for the next
 * direction. */
CFD_INLINE void solve_plane(const int d, int start, int step)
{
    const int s = cfd_stride(d);
    lanes x[CFD_N][5];

    for (int l0 = 0; l0 < CFD_N - 2; l0 += LANES) {
        int p0[LANES];
        /* Lanes beyond the last line repeat it and are not stored. */
        for (int l = 0; l < LANES; l++)
            p0[l] = start + (l0 + l < CFD_N - 2 ? l0 + l : CFD_N - 3) * step;
        for (int i = 0; i < CFD_N; i++)
            for (int l = 0; l < LANES; l++)
                for (int m = 0; m < 5; m++)
                    x[i][m][l] = cfd_rhs[p0[l] + i * s][m];
        solve_lanes(d, p0, x);
        for (int i = 1; i <= CFD_LAST; i++)
            for (int l = 0; l < LANES && l0 + l < CFD_N - 2; l++) {
                int p = p0[l] + i * s;
                double r[5];
                for (int m = 0; m < 5; m++)
                    r[m] = x[i][m][l];
                if (d == 0)
                    ninvr(r);
                else if (d == 1)
                    pinvr(r);
                else
                    tzetar(p, r);
                memcpy(cfd_rhs[p], r, sizeof r);
            }
    }
}

/* ---- one step ---- */

static void x_solve(void)
{
#pragma omp parallel for schedule(static)
    for (int k = 1; k <= CFD_LAST; k++)
        solve_plane(0, CFD_AT(k, 1, 0), CFD_LD);
}

static void y_solve(void)
{
#pragma omp parallel for schedule(static)
    for (int k = 1; k <= CFD_LAST; k++)
        solve_plane(1, CFD_AT(k, 0, 1), 1);
}

static void z_solve(void)
{
#pragma omp parallel for schedule(static)
    for (int j = 1; j <= CFD_LAST; j++)
        solve_plane(2, CFD_AT(0, j, 1), 1);
}

/* Applies txinvr everywhere inside. */
static void to_characteristic(void)
{
#pragma omp parallel for schedule(static)
    for (int k = 1; k <= CFD_LAST; k++)
        for (int j = 1; j <= CFD_LAST; j++)
            for (int p = CFD_AT(k, j, 1); p <= CFD_AT(k, j, CFD_LAST); p++)
                txinvr(p, cfd_rhs[p]);
}

static void step(void)
{
    cfd_compute_rhs(DT);
    to_characteristic();
    x_solve();
    y_solve();
    z_solve();
    cfd_add(1.0);
}

int main(void)
{
    const double n = CFD_N;
    const double residual_reference[5] = NPB_PICK(NPB_SP_RESIDUAL_RMS_);
    const double error_reference[5] = NPB_PICK(NPB_SP_ERROR_RMS_);
    struct npb_result result = {
        .name = "SP",
        .dimensions = 3,
        .size = {CFD_N, CFD_N, CFD_N},
        .iterations = NPB_PICK(NPB_SP_ITERATIONS_),
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
        (881.174 * n * n * n - 4683.91 * n * n + 11484.5 * n - 19272.4);
    cfd_compute_rhs(1.0);
    result.verified = cfd_verify(residual_reference, error_reference,
                                 NPB_SP_TOLERANCE);
    npb_report(&result);
    return npb_exit_status(&result);
}
