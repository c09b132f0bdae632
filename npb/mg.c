/*
 * MG, the multigrid benchmark (NAS-91-002, section 2.2.2): a few V-cycles on a
 * periodic cube for the discrete Poisson equation A u = v, where v is zero but
 * for ten places with +1 and ten with -1.
 *
 * A grid of 2^k points a side is stored with one more layer all around that
 * repeats the opposite side, so that no stencil asks where it is. All grids of
 * a hierarchy lie one after the other in one static array. Where v is not zero
 * is found by common/charges.h.
 *
 * The 27-point stencils weigh neighbours by distance alone. For a line of
 * points, the sums over the four nearest and the four diagonal lines are made
 * first and then shared by three points each, as the published programs do:
 * fewer additions, and loops that vectorise. NAS-99-011 makes the outermost
 * loop of every operation a parallel loop; so does this.
 *
 * Timed: the first residual and the V-cycles with their residuals. Not timed:
 * making v, one V-cycle for warm-up. Checked: the L2 norm of the last residual.
 */
#include "common/charges.h"
#include "common/npb.h"
#include "reference/mg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ITERATIONS = NPB_PICK(NPB_MG_ITERATIONS_),
    TOP = SIDE == 32 ? 5 : SIDE == 128 ? 7 : SIDE == 256 ? 8 : 9,
    WIDE = SIDE + 2 /* with the repeated layers */
};
_Static_assert(SIDE == 1 << TOP, "the side is a known power of two");

/* The points of levels 1 to k: the sum of (2^i + 2)^3, term by term. */
#define LEVELS_SIZE(k)                                                        \
    (((INT64_C(8) << 3 * (k)) - 8) / 7 + 2 * ((INT64_C(4) << 2 * (k)) - 4) +  \
     12 * ((INT64_C(2) << (k)) - 2) + 8 * (k))

static double u_levels[LEVELS_SIZE(TOP)];
static double r_levels[LEVELS_SIZE(TOP)];
static double v[WIDE][WIDE][WIDE];

/* A stencil's weights for a point itself and its neighbours across a face, an
 * edge and a corner. The operator A has no face term and the smoother no
 * corner term; the code leaves both out. */
struct stencil {
    double self, face, edge, corner;
};
static const struct stencil OPERATOR = {-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0};
#if NPB_CLASS_ID <= NPB_CLASS_A
static const struct stencil SMOOTHER = {-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0,
                                        0.0};
#else
static const struct stencil SMOOTHER = {-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0,
                                        0.0};
#endif

static int wide(int level)
{
    return (1 << level) + 2;
}

static void *u_at(int level)
{
    return &u_levels[LEVELS_SIZE(level - 1)];
}

static void *r_at(int level)
{
    return &r_levels[LEVELS_SIZE(level - 1)];
}

static void set_zero(int n, void *grid)
{
    double(*g)[n][n] = grid;
#pragma omp parallel for
    for (int k = 0; k < n; k++)
        memset(g[k], 0, sizeof g[k]);
}

/* Copies the sides of a grid to the layers that repeat them. */
static void repeat_sides(int n, void *grid)
{
    double(*g)[n][n] = grid;
#pragma omp parallel
    {
#pragma omp for
        for (int k = 1; k < n - 1; k++) {
            for (int j = 1; j < n - 1; j++) {
                g[k][j][0] = g[k][j][n - 2];
                g[k][j][n - 1] = g[k][j][1];
            }
            memcpy(g[k][0], g[k][n - 2], sizeof g[k][0]);
            memcpy(g[k][n - 1], g[k][1], sizeof g[k][0]);
        }
#pragma omp for
        for (int j = 0; j < n; j++) {
            memcpy(g[0][j], g[n - 2][j], sizeof g[0][j]);
            memcpy(g[n - 1][j], g[1][j], sizeof g[0][j]);
        }
    }
}

/* For the line (k, j) of a grid: the sums of its four nearest lines and of its
 * four diagonal lines. */
static inline void sum_lines(int n, double (*g)[n][n], int k, int j,
                             double *near, double *diagonal)
{
    for (int i = 0; i < n; i++) {
        near[i] = g[k][j - 1][i] + g[k][j + 1][i] + g[k - 1][j][i] +
                  g[k + 1][j][i];
        diagonal[i] = g[k - 1][j - 1][i] + g[k - 1][j + 1][i] +
                      g[k + 1][j - 1][i] + g[k + 1][j + 1][i];
    }
}

/* r = v - A u. The grids of v and r may be the same. */
static void residual(int n, void *u_grid, void *v_grid, void *r_grid)
{
    double(*g)[n][n] = u_grid, (*right)[n][n] = v_grid, (*out)[n][n] = r_grid;
    const struct stencil a = OPERATOR;
#pragma omp parallel for
    for (int k = 1; k < n - 1; k++) {
        double near[WIDE], diagonal[WIDE];
        for (int j = 1; j < n - 1; j++) {
            sum_lines(n, g, k, j, near, diagonal);
            for (int i = 1; i < n - 1; i++)
                out[k][j][i] =
                    right[k][j][i] - a.self * g[k][j][i] -
                    a.edge * (diagonal[i] + near[i - 1] + near[i + 1]) -
                    a.corner * (diagonal[i - 1] + diagonal[i + 1]);
        }
    }
    repeat_sides(n, r_grid);
}

/* u = u + S r. */
static void smooth(int n, void *r_grid, void *u_grid)
{
    double(*g)[n][n] = r_grid, (*out)[n][n] = u_grid;
    const struct stencil s = SMOOTHER;
#pragma omp parallel for
    for (int k = 1; k < n - 1; k++) {
        double near[WIDE], diagonal[WIDE];
        for (int j = 1; j < n - 1; j++) {
            sum_lines(n, g, k, j, near, diagonal);
            for (int i = 1; i < n - 1; i++)
                out[k][j][i] +=
                    s.self * g[k][j][i] +
                    s.face * (g[k][j][i - 1] + g[k][j][i + 1] + near[i]) +
                    s.edge * (diagonal[i] + near[i - 1] + near[i + 1]);
        }
    }
    repeat_sides(n, u_grid);
}

/* Restricts a fine grid to the next coarser one: coarse point i is fine point
 * 2i with its neighbours, full weighting. */
static void restrict_to(int fine, void *fine_grid, int coarse,
                        void *coarse_grid)
{
    double(*f)[fine][fine] = fine_grid, (*c)[coarse][coarse] = coarse_grid;
#pragma omp parallel for
    for (int k = 1; k < coarse - 1; k++) {
        double near[WIDE], diagonal[WIDE];
        for (int j = 1; j < coarse - 1; j++) {
            sum_lines(fine, f, 2 * k, 2 * j, near, diagonal);
            for (int i = 1; i < coarse - 1; i++) {
                const double *line = &f[2 * k][2 * j][2 * i];
                const double *by = &near[2 * i], *off = &diagonal[2 * i];
                c[k][j][i] = 0.5 * line[0] +
                             0.25 * (line[-1] + line[1] + by[0]) +
                             0.125 * (by[-1] + by[1] + off[0]) +
                             0.0625 * (off[-1] + off[1]);
            }
        }
    }
    repeat_sides(coarse, coarse_grid);
}

/* Adds a coarse grid's trilinear interpolation to the next finer grid. The
 * repeated layers come out right by themselves if they were right before. */
static void add_interpolated(int coarse, void *coarse_grid, int fine,
                             void *fine_grid)
{
    double(*c)[coarse][coarse] = coarse_grid, (*f)[fine][fine] = fine_grid;
#pragma omp parallel for
    for (int k = 0; k < coarse - 1; k++) {
        double in_j[WIDE], in_k[WIDE], in_both[WIDE];
        for (int j = 0; j < coarse - 1; j++) {
            const double *c00 = c[k][j], *c01 = c[k][j + 1];
            const double *c10 = c[k + 1][j], *c11 = c[k + 1][j + 1];
            for (int i = 0; i < coarse; i++) {
                in_j[i] = c00[i] + c01[i];
                in_k[i] = c00[i] + c10[i];
                in_both[i] = in_j[i] + c10[i] + c11[i];
            }
            double *f00 = f[2 * k][2 * j], *f01 = f[2 * k][2 * j + 1];
            double *f10 = f[2 * k + 1][2 * j], *f11 = f[2 * k + 1][2 * j + 1];
            for (int i = 0; i < coarse - 1; i++) {
                f00[2 * i] += c00[i];
                f00[2 * i + 1] += 0.5 * (c00[i] + c00[i + 1]);
                f01[2 * i] += 0.5 * in_j[i];
                f01[2 * i + 1] += 0.25 * (in_j[i] + in_j[i + 1]);
                f10[2 * i] += 0.5 * in_k[i];
                f10[2 * i + 1] += 0.25 * (in_k[i] + in_k[i + 1]);
                f11[2 * i] += 0.25 * in_both[i];
                f11[2 * i + 1] += 0.125 * (in_both[i] + in_both[i + 1]);
            }
        }
    }
}

/* One V-cycle on the residual in r: improves u on the top level. */
static void v_cycle(void)
{
    for (int level = TOP; level > 1; level--)
        restrict_to(wide(level), r_at(level), wide(level - 1),
                    r_at(level - 1));
    set_zero(wide(1), u_at(1));
    smooth(wide(1), r_at(1), u_at(1));
    for (int level = 2; level <= TOP; level++) {
        int n = wide(level);
        if (level < TOP)
            set_zero(n, u_at(level));
        add_interpolated(wide(level - 1), u_at(level - 1), n, u_at(level));
        residual(n, u_at(level), level < TOP ? r_at(level) : (void *)v,
                 r_at(level));
        smooth(n, r_at(level), u_at(level));
    }
}

static double norm(int n, void *grid)
{
    double(*g)[n][n] = grid;
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum)
    for (int k = 1; k < n - 1; k++)
        for (int j = 1; j < n - 1; j++)
            for (int i = 1; i < n - 1; i++)
                sum += g[k][j][i] * g[k][j][i];
    return sqrt(sum / ((double)SIDE * SIDE * SIDE));
}

/* Sets v: +1 and -1 at the places that find_charges names, 0 elsewhere. */
static void make_right_side(void)
{
    struct extremes high, low;
    find_charges(&high, &low);
    set_zero(WIDE, v);
    for (int s = 0; s < CHARGES; s++) {
        v[high.at[s][0] + 1][high.at[s][1] + 1][high.at[s][2] + 1] = 1.0;
        v[low.at[s][0] + 1][low.at[s][1] + 1][low.at[s][2] + 1] = -1.0;
    }
    repeat_sides(WIDE, v);
}

int main(void)
{
    struct npb_result result = {
        .name = "MG",
        .dimensions = 3,
        .size = {SIDE, SIDE, SIDE},
        .iterations = ITERATIONS,
        .operations = 58.0 * ITERATIONS * SIDE * SIDE * SIDE,
        .operation = "floating point",
    };
    npb_banner(&result);
    make_right_side();
    set_zero(WIDE, u_at(TOP));
    residual(WIDE, u_at(TOP), v, r_at(TOP));
    v_cycle();
    residual(WIDE, u_at(TOP), v, r_at(TOP));
    set_zero(WIDE, u_at(TOP));

    double start = npb_wtime();
    residual(WIDE, u_at(TOP), v, r_at(TOP));
    printf("   iteration   0  norm %20.13E\n", norm(WIDE, r_at(TOP)));
    for (int it = 1; it <= ITERATIONS; it++) {
        v_cycle();
        residual(WIDE, u_at(TOP), v, r_at(TOP));
    }
    double last = norm(WIDE, r_at(TOP));
    result.seconds = npb_wtime() - start;

    last = NPB_SPOIL(last);
    result.verified = npb_check("residual L2", last,
                                NPB_PICK(NPB_MG_RESIDUAL_L2_),
                                NPB_MG_TOLERANCE);
    npb_report(&result);
    return npb_exit_status(&result);
}
