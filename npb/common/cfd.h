/*
 * What the simulated applications BT, SP and LU share: the flow equations.
 *
 * All three march the same synthetic problem (NAS-91-002, chapter 3; also
 * RNR-94-007) to a steady state: the compressible Navier-Stokes equations in
 * the five conserved quantities u = (density, three momenta, energy) on the
 * unit cube, with fourth-difference dissipation and a forcing term made such
 * that a given polynomial is the solution. They differ in how they solve for
 * the update, and that part is in bt.c, sp.c and lu.c. Here are the constants,
 * the polynomial, the first guess, the discrete operator (right-hand side), its
 * flux Jacobians, the norms and the verification.
 *
 * The three directions obey one formula with the roles of the momenta
 * exchanged. It is written once, with the direction d (0 = x, 1 = y, 2 = z) as
 * an argument that is a constant after inlining. Likewise the forcing is not
 * coded apart: it is minus the operator applied to the exact solution.
 *
 * The header defines static arrays, so exactly one file of a program includes
 * it, after defining CFD_N (points per direction) and, if it needs the speed of
 * sound, CFD_WITH_SPEED as 1.
 */
#ifndef NPB_COMMON_CFD_H
#define NPB_COMMON_CFD_H

#include "npb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef CFD_WITH_SPEED
#define CFD_WITH_SPEED 0
#endif

/* The direction must be a constant for the optimiser, at -O2 and by any
 * compiler's inlining limits. */
#define CFD_INLINE static inline __attribute__((always_inline))

/* ---- grid ---- */

/* A point (k, j, i) = (z, y, x) has the number CFD_AT(k, j, i). Rows and
 * planes are padded to odd lengths against conflicts in the caches. */
enum {
    CFD_LD = CFD_N / 2 * 2 + 1,
    CFD_POINTS = CFD_N * CFD_LD * CFD_LD,
    CFD_LAST = CFD_N - 2 /* last interior index; the first is 1 */
};
#define CFD_AT(k, j, i) (((k) * CFD_LD + (j)) * CFD_LD + (i))

/* Distance between the numbers of neighbours in direction d. */
CFD_INLINE int cfd_stride(const int d)
{
    return d == 0 ? 1 : d == 1 ? CFD_LD : CFD_LD * CFD_LD;
}

/* ---- constants of the equations (NAS-91-002, chapter 3) ---- */

static const double cfd_c1 = 1.4, cfd_c2 = 0.4; /* gamma, gamma - 1 */
static const double cfd_c34 = 0.1 * 1.0;        /* viscosity k3 k4 */
static const double cfd_c1345 = 1.4 * 1.4 * 0.1 * 1.0;
/* Factors of the first and second differences. */
static const double cfd_t1 = (CFD_N - 1.0) * (CFD_N - 1.0);
static const double cfd_t2 = (CFD_N - 1.0) / 2.0;
/* Second-difference dissipation of each direction, the same for all five
 * quantities; fourth-difference dissipation. */
static const double cfd_d[3] = {0.75, 0.75, 1.0};
static const double cfd_dssp = 0.25 * 1.0;

/* ---- fields ---- */

static double cfd_u[CFD_POINTS][5];
static double cfd_rhs[CFD_POINTS][5];
static double cfd_forcing[CFD_POINTS][5];
/* Derived from u by cfd_compute_rhs: 1/density, velocities, kinetic energy per
 * mass and per volume, speed of sound. */
static double cfd_rho_i[CFD_POINTS];
static double cfd_vel[3][CFD_POINTS];
static double cfd_qs[CFD_POINTS];
static double cfd_square[CFD_POINTS];
#if CFD_WITH_SPEED
static double cfd_speed[CFD_POINTS];
#endif

/* ---- exact solution and first guess ---- */

/* Constant term, then the coefficients of x, y, z, x^2, y^2, z^2, ... z^4. */
static const double cfd_exact_coefficients[5][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

/* The exact solution at the place r = (x, y, z) of the unit cube. */
static void cfd_exact(const double r[3], double ue[5])
{
    for (int m = 0; m < 5; m++) {
        const double *c = cfd_exact_coefficients[m];
        ue[m] = c[0];
        for (int d = 0; d < 3; d++)
            ue[m] += r[d] * (c[1 + d] +
                             r[d] * (c[4 + d] +
                                     r[d] * (c[7 + d] + r[d] * c[10 + d])));
    }
}

static void cfd_exact_at(int k, int j, int i, double ue[5])
{
    const double h = 1.0 / (CFD_N - 1);
    cfd_exact((const double[3]){i * h, j * h, k * h}, ue);
}

/* The first guess at r: the exact solution's values on the six faces, blended
 * into the cube as 1 - (1 - Px)(1 - Py)(1 - Pz), where Px interpolates
 * linearly between the two x faces and so on. */
static void cfd_guess(const double r[3], double guess[5])
{
    double p[3][5];
    for (int d = 0; d < 3; d++) {
        double face[2][5];
        for (int side = 0; side < 2; side++) {
            double q[3] = {r[0], r[1], r[2]};
            q[d] = side;
            cfd_exact(q, face[side]);
        }
        for (int m = 0; m < 5; m++)
            p[d][m] = r[d] * face[1][m] + (1.0 - r[d]) * face[0][m];
    }
    for (int m = 0; m < 5; m++)
        guess[m] = p[0][m] + p[1][m] + p[2][m] - p[0][m] * p[1][m] -
                   p[0][m] * p[2][m] - p[1][m] * p[2][m] +
                   p[0][m] * p[1][m] * p[2][m];
}

static inline bool cfd_on_boundary(int i)
{
    return i == 0 || i == CFD_N - 1;
}

/* Sets u: the exact solution on the boundary, the first guess inside. */
static void cfd_initialize(void)
{
    const double h = 1.0 / (CFD_N - 1);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < CFD_N; k++)
        for (int j = 0; j < CFD_N; j++)
            for (int i = 0; i < CFD_N; i++) {
                double *u = cfd_u[CFD_AT(k, j, i)];
                if (cfd_on_boundary(k) || cfd_on_boundary(j) ||
                    cfd_on_boundary(i))
                    cfd_exact_at(k, j, i, u);
                else
                    cfd_guess((const double[3]){i * h, j * h, k * h}, u);
            }
}

/* ---- right-hand side ---- */

CFD_INLINE double cfd_second(double before, double here, double after)
{
    return before - 2.0 * here + after;
}

/* Adds the central difference of the convective flux and the viscous and
 * second-difference terms of direction d to rhs, for n points from p0 on. */
CFD_INLINE void cfd_fluxes(const int d, int p0, int n)
{
    const int s = cfd_stride(d);
    const double *vd = cfd_vel[d];
    const double dd = cfd_d[d] * cfd_t1, t2 = cfd_t2;
    const double con2 = cfd_c34 * cfd_t1; /* c3 c4 tx3 tx3 */
    const double con3 = con2 * (1.0 - cfd_c1 * cfd_c1);
    const double con4 = con2 / 6.0;
    const double con5 = con2 * cfd_c1 * cfd_c1;
    for (int p = p0; p < p0 + n; p++) {
        const double *ub = cfd_u[p - s], *u = cfd_u[p], *ua = cfd_u[p + s];
        double *rhs = cfd_rhs[p];
        double vb = vd[p - s], v = vd[p], va = vd[p + s];

        rhs[0] += dd * cfd_second(ub[0], u[0], ua[0]) -
                  t2 * (ua[1 + d] - ub[1 + d]);
        for (int m = 0; m < 3; m++) {
            const double *w = cfd_vel[m];
            double con = m == d ? con2 * 4.0 / 3.0 : con2;
            double flux = ua[1 + m] * va - ub[1 + m] * vb;
            if (m == d)
                flux += cfd_c2 *
                        (ua[4] - cfd_square[p + s] - ub[4] + cfd_square[p - s]);
            rhs[1 + m] += dd * cfd_second(ub[1 + m], u[1 + m], ua[1 + m]) +
                          con * cfd_second(w[p - s], w[p], w[p + s]) -
                          t2 * flux;
        }
        rhs[4] +=
            dd * cfd_second(ub[4], u[4], ua[4]) +
            con3 * cfd_second(cfd_qs[p - s], cfd_qs[p], cfd_qs[p + s]) +
            con4 * cfd_second(vb * vb, v * v, va * va) +
            con5 * cfd_second(ub[4] * cfd_rho_i[p - s], u[4] * cfd_rho_i[p],
                              ua[4] * cfd_rho_i[p + s]) -
            t2 * ((cfd_c1 * ua[4] - cfd_c2 * cfd_square[p + s]) * va -
                  (cfd_c1 * ub[4] - cfd_c2 * cfd_square[p - s]) * vb);
    }
}

/* Subtracts the fourth-difference dissipation of one direction, for n points
 * from p0 on that all have the index `at` in that direction or, if `at` is 3,
 * any index from 3 to N - 4: next to the boundary the stencil is cut. */
CFD_INLINE void cfd_dissipate(const int d, int at, int p0, int n)
{
    const int s = cfd_stride(d);
    const int bb = at < 3 ? 0 : -2 * s, aa = at > CFD_N - 4 ? 0 : 2 * s;
    const int b = at == 1 ? 0 : -s, a = at == CFD_N - 2 ? 0 : s;
    const double wbb = at < 3 ? 0.0 : 1.0, waa = at > CFD_N - 4 ? 0.0 : 1.0;
    const double wb = at == 1 ? 0.0 : -4.0, wa = at == CFD_N - 2 ? 0.0 : -4.0;
    const double w = at == 1 || at == CFD_N - 2 ? 5.0 : 6.0;
    for (int p = p0; p < p0 + n; p++)
        for (int m = 0; m < 5; m++)
            cfd_rhs[p][m] -=
                cfd_dssp * (wbb * cfd_u[p + bb][m] + wb * cfd_u[p + b][m] +
                            w * cfd_u[p][m] + wa * cfd_u[p + a][m] +
                            waa * cfd_u[p + aa][m]);
}

/* Sets the derived fields from u, everywhere. */
static void cfd_derive(int k)
{
    for (int j = 0; j < CFD_N; j++)
        for (int p = CFD_AT(k, j, 0); p < CFD_AT(k, j, CFD_N); p++) {
            const double *u = cfd_u[p];
            double r = 1.0 / u[0];
            double square =
                0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * r;
            cfd_rho_i[p] = r;
            for (int d = 0; d < 3; d++)
                cfd_vel[d][p] = u[1 + d] * r;
            cfd_square[p] = square;
            cfd_qs[p] = square * r;
#if CFD_WITH_SPEED
            cfd_speed[p] = sqrt(cfd_c1 * cfd_c2 * r * (u[4] - square));
#endif
        }
}

/* rhs = scale * (forcing + operator(u)) inside, forcing on the boundary. */
static void cfd_compute_rhs(double scale)
{
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int k = 0; k < CFD_N; k++) {
            cfd_derive(k);
            memcpy(cfd_rhs[CFD_AT(k, 0, 0)], cfd_forcing[CFD_AT(k, 0, 0)],
                   sizeof(double[5]) * CFD_LD * CFD_LD);
        }
#pragma omp for schedule(static)
        for (int k = 1; k <= CFD_LAST; k++)
            for (int j = 1; j <= CFD_LAST; j++) {
                int p = CFD_AT(k, j, 0), n = CFD_N - 2;
                cfd_fluxes(0, p + 1, n);
                cfd_dissipate(0, 1, p + 1, 1);
                cfd_dissipate(0, 2, p + 2, 1);
                cfd_dissipate(0, 3, p + 3, n - 4);
                cfd_dissipate(0, CFD_N - 3, p + CFD_N - 3, 1);
                cfd_dissipate(0, CFD_N - 2, p + CFD_N - 2, 1);
                cfd_fluxes(1, p + 1, n);
                cfd_dissipate(1, j, p + 1, n);
                cfd_fluxes(2, p + 1, n);
                cfd_dissipate(2, k, p + 1, n);
                for (int q = p + 1; q <= p + n; q++)
                    for (int m = 0; m < 5; m++)
                        cfd_rhs[q][m] *= scale;
            }
    }
}

/* Sets the forcing, which makes the exact solution a steady one; leaves the
 * exact solution in u. */
static void cfd_initialize_forcing(void)
{
#pragma omp parallel for schedule(static)
    for (int k = 0; k < CFD_N; k++)
        for (int j = 0; j < CFD_N; j++)
            for (int i = 0; i < CFD_N; i++) {
                int p = CFD_AT(k, j, i);
                cfd_exact_at(k, j, i, cfd_u[p]);
                memset(cfd_forcing[p], 0, sizeof cfd_forcing[p]);
            }
    cfd_compute_rhs(-1.0);
#pragma omp parallel for schedule(static)
    for (int k = 1; k <= CFD_LAST; k++)
        for (int j = 1; j <= CFD_LAST; j++)
            memcpy(cfd_forcing[CFD_AT(k, j, 1)], cfd_rhs[CFD_AT(k, j, 1)],
                   sizeof(double[5]) * (CFD_N - 2));
}

/* u += factor * rhs, inside. */
static void cfd_add(double factor)
{
#pragma omp parallel for schedule(static)
    for (int k = 1; k <= CFD_LAST; k++)
        for (int j = 1; j <= CFD_LAST; j++)
            for (int p = CFD_AT(k, j, 1); p <= CFD_AT(k, j, CFD_LAST); p++)
                for (int m = 0; m < 5; m++)
                    cfd_u[p][m] += factor * cfd_rhs[p][m];
}

/* ---- flux Jacobians, for the implicit solvers BT and LU ---- */

/* block = f * A + v * (V + D I): A and V are the Jacobians of direction d's
 * convective and viscous flux at point p, D its second-difference
 * dissipation. */
CFD_INLINE void cfd_jacobian(const int d, int p, double f, double v,
                             double block[5][5])
{
    const double w[3] = {cfd_vel[0][p], cfd_vel[1][p], cfd_vel[2][p]};
    const double r = cfd_rho_i[p], qs = cfd_qs[p], energy = cfd_u[p][4] * r;
    const double vd = v * cfd_d[d], fw = f * w[d];
    const double heat = v * cfd_c1345 * r;

    for (int m = 0; m < 5; m++)
        for (int n = 0; n < 5; n++)
            block[m][n] = 0.0;
    block[0][0] = vd;
    block[0][1 + d] = f;
    block[4][0] = fw * (2.0 * cfd_c2 * qs - cfd_c1 * energy) - heat * energy;
    for (int m = 0; m < 3; m++) {
        double vm = v * cfd_c34 * (m == d ? 4.0 / 3.0 : 1.0) * r;
        block[1 + m][0] = -(fw + vm) * w[m];
        block[1 + m][1 + m] = fw + vm + vd;
        block[4][0] -= (vm - heat) * w[m] * w[m];
        block[4][1 + m] = (vm - heat - cfd_c2 * fw) * w[m];
    }
    for (int m = 0; m < 3; m++) {
        block[1 + m][1 + d] += f * w[m];
        block[1 + d][1 + m] -= f * cfd_c2 * w[m];
    }
    block[1 + d][0] += f * cfd_c2 * qs;
    block[1 + d][4] = f * cfd_c2;
    block[4][1 + d] += f * (cfd_c1 * energy - cfd_c2 * qs);
    block[4][4] = cfd_c1 * fw + heat + vd;
}

/* block = I + the sum over the directions d of v[d] * (V + D I) at point p. */
CFD_INLINE void cfd_diagonal(int p, const double v[3], double block[5][5])
{
    const double w[3] = {cfd_vel[0][p], cfd_vel[1][p], cfd_vel[2][p]};
    const double r = cfd_rho_i[p], energy = cfd_u[p][4] * r;
    const double sum = v[0] + v[1] + v[2];
    const double heat = sum * cfd_c1345 * r;
    const double one =
        1.0 + v[0] * cfd_d[0] + v[1] * cfd_d[1] + v[2] * cfd_d[2];

    for (int m = 0; m < 5; m++)
        for (int n = 0; n < 5; n++)
            block[m][n] = 0.0;
    block[0][0] = one;
    block[4][0] = -heat * energy;
    for (int m = 0; m < 3; m++) {
        double vm = (sum + v[m] / 3.0) * cfd_c34 * r;
        block[1 + m][0] = -vm * w[m];
        block[1 + m][1 + m] = one + vm;
        block[4][0] -= (vm - heat) * w[m] * w[m];
        block[4][1 + m] = (vm - heat) * w[m];
    }
    block[4][4] = one + heat;
}

/* ---- norms and verification ---- */

/* Root mean square over the interior points of each component of rhs. */
static void cfd_residual_norm(double norm[5])
{
    double sum[5] = {0.0};
#pragma omp parallel for schedule(static) reduction(+ : sum[:5])
    for (int k = 1; k <= CFD_LAST; k++)
        for (int j = 1; j <= CFD_LAST; j++)
            for (int i = 1; i <= CFD_LAST; i++)
                for (int m = 0; m < 5; m++) {
                    double r = cfd_rhs[CFD_AT(k, j, i)][m];
                    sum[m] += r * r;
                }
    for (int m = 0; m < 5; m++)
        norm[m] = sqrt(sum[m] / pow(CFD_N - 2, 3));
}

/* Root mean square over the interior points of u's error; on the boundary u
 * is exact. */
static void cfd_error_norm(double norm[5])
{
    double sum[5] = {0.0};
#pragma omp parallel for schedule(static) reduction(+ : sum[:5])
    for (int k = 1; k <= CFD_LAST; k++)
        for (int j = 1; j <= CFD_LAST; j++)
            for (int i = 1; i <= CFD_LAST; i++) {
                double ue[5];
                cfd_exact_at(k, j, i, ue);
                for (int m = 0; m < 5; m++) {
                    double e = cfd_u[CFD_AT(k, j, i)][m] - ue[m];
                    sum[m] += e * e;
                }
            }
    for (int m = 0; m < 5; m++)
        norm[m] = sqrt(sum[m] / pow(CFD_N - 2, 3));
}

/* Checks five norms against their references. */
static bool cfd_check_norms(const char *what, const double norm[5],
                            const double reference[5], double tolerance)
{
    bool right = true;
    for (int m = 0; m < 5; m++) {
        char name[32];
        snprintf(name, sizeof name, "%s %d", what, m + 1);
        right &= npb_check(name, norm[m], reference[m], tolerance);
    }
    return right;
}

/* Checks residual (rhs must hold it, for the final u and unscaled) and error
 * against their references. */
static bool cfd_verify(const double residual_reference[5],
                       const double error_reference[5], double tolerance)
{
    double residual[5], error[5];
    cfd_residual_norm(residual);
    cfd_error_norm(error);
    residual[0] = NPB_SPOIL(residual[0]);
    bool right =
        cfd_check_norms("residual", residual, residual_reference, tolerance);
    return cfd_check_norms("error", error, error_reference, tolerance) && right;
}

#endif
