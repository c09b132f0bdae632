/*
 * MG for devices: see mg.c for the problem (NAS-91-002, section 2.2.2). The
 * host finds the charges (common/charges.h); all grids live on the device.
 *
 * A side has a power of two points, so a neighbour's index wraps around by a
 * mask: grids have no layers that repeat the opposite side, and every operation
 * is one loop, without loops that copy sides in between. The points of a level
 * are numbered as they are stored, and a place comes from a number by shifts,
 * where a collapsed loop nest would divide.
 *
 * The stencils weigh neighbours by distance alone. A thread does DEPTH points
 * one below the other; of each plane it reads nine points once and keeps their
 * three sums (the middle, the four nearest, the four diagonal ones) for the
 * planes before and after. Neighbouring threads do neighbouring columns.
 *
 * Coarser levels begin with zero, so what would be added to them is stored.
 *
 * Timed: the first residual and the V-cycles with their residuals. Not timed:
 * making v, one V-cycle for warm-up. Checked: the L2 norm of the last residual.
 */
#include "../common/charges.h"
#include "../common/npb.h"
#include "../reference/mg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ITERATIONS = NPB_PICK(NPB_MG_ITERATIONS_),
    TOP = SIDE == 32 ? 5 : SIDE == 128 ? 7 : SIDE == 256 ? 8 : 9,
    DEPTH = 8 /* planes of a thread, at most */
};
_Static_assert(SIDE == 1 << TOP, "the side is a known power of two");

/* Points of a level, and where it begins among the levels from 1 on. */
#define LEVEL_SIZE(k) (INT64_C(1) << 3 * (k))
#define LEVELS_SIZE(k) ((LEVEL_SIZE((k) + 1) - 8) / 7)

static double *u_levels, *r_levels, *v;

#pragma omp begin declare target

/* A stencil's weights for a point itself and its neighbours across a face, an
 * edge and a corner. */
struct stencil {
    double self, face, edge, corner;
};

/* The sums of one plane around a place: itself, four nearest, four diagonal. */
struct plane {
    double self, near, diagonal;
};

/* The rows and columns around a place, as offsets within a plane. */
struct place {
    int row, above, below, left, middle, right;
};

static inline struct place around(int level, int j, int i)
{
    int mask = (1 << level) - 1;
    return (struct place){
        .row = j << level,
        .above = ((j - 1) & mask) << level,
        .below = ((j + 1) & mask) << level,
        .left = (i - 1) & mask,
        .middle = i,
        .right = (i + 1) & mask,
    };
}

static inline struct plane sums(const double *g, struct place p)
{
    return (struct plane){
        .self = g[p.row + p.middle],
        .near = g[p.row + p.left] + g[p.row + p.right] +
                g[p.above + p.middle] + g[p.below + p.middle],
        .diagonal = g[p.above + p.left] + g[p.above + p.right] +
                    g[p.below + p.left] + g[p.below + p.right],
    };
}

/* A stencil at the plane `here` between its neighbours. */
static inline double apply(struct stencil s, struct plane before,
                           struct plane here, struct plane after)
{
    return s.self * here.self +
           s.face * (here.near + before.self + after.self) +
           s.edge * (here.diagonal + before.near + after.near) +
           s.corner * (before.diagonal + after.diagonal);
}

#pragma omp end declare target

static const struct stencil OPERATOR = {-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0};
#if NPB_CLASS_ID <= NPB_CLASS_A
static const struct stencil SMOOTHER = {-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0,
                                        0.0};
#else
static const struct stencil SMOOTHER = {-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0,
                                        0.0};
#endif

static double *u_at(int level)
{
    return &u_levels[LEVELS_SIZE(level - 1)];
}

static double *r_at(int level)
{
    return &r_levels[LEVELS_SIZE(level - 1)];
}

/* log2 of the planes that a thread does. */
static int depth_of(int level)
{
    int log2_depth = 0;
    while (1 << (log2_depth + 1) <= DEPTH && log2_depth + 1 < level - 2)
        log2_depth++;
    return log2_depth;
}

/* out = right + factor * stencil(g), or factor * stencil(g) without `right`.
 * The grids of `right` and `out` may be the same. */
static void combine(int level, double factor, struct stencil s,
                    const double *g, const double *right, double *out)
{
    int deep = depth_of(level);
    int columns = 1 << (3 * level - deep);
    bool adds = right != NULL;
    if (!adds)
        right = g;
    s.self *= factor, s.face *= factor, s.edge *= factor, s.corner *= factor;
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : g[ : LEVEL_SIZE(level)],                             \
            right[ : LEVEL_SIZE(level)], out[ : LEVEL_SIZE(level)])           \
    firstprivate(s)
    for (int c = 0; c < columns; c++) {
        int mask = (1 << level) - 1;
        struct place p = around(level, c >> level & mask, c & mask);
        int k = c >> 2 * level << deep;
        struct plane before =
            sums(g + ((int64_t)((k - 1) & mask) << 2 * level), p);
        struct plane here = sums(g + ((int64_t)k << 2 * level), p);
        for (int end = k + (1 << deep); k < end; k++) {
            struct plane after =
                sums(g + ((int64_t)((k + 1) & mask) << 2 * level), p);
            int64_t at = ((int64_t)k << 2 * level) + p.row + p.middle;
            double value = apply(s, before, here, after);
            out[at] = adds ? right[at] + value : value;
            before = here;
            here = after;
        }
    }
}

/* r = v - A u. */
static void residual(int level, const double *u, const double *right, double *r)
{
    combine(level, -1.0, OPERATOR, u, right, r);
}

/* u = u + S r. */
static void smooth(int level)
{
    combine(level, 1.0, SMOOTHER, r_at(level), u_at(level), u_at(level));
}

/* Restricts level + 1 to level: coarse point i is fine point 2i + 1 (mg.c counts
 * from one) with its neighbours, full weighting. */
static void restrict_to(int level)
{
    const double *f = r_at(level + 1);
    double *c = r_at(level);
    int points = 1 << 3 * level;
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : f[ : LEVEL_SIZE(level + 1)], c[ : LEVEL_SIZE(level)])
    for (int at = 0; at < points; at++) {
        const struct stencil weights = {0.5, 0.25, 0.125, 0.0625};
        int mask = (1 << level) - 1, fine = level + 1;
        int fine_mask = (1 << fine) - 1;
        int k = 2 * (at >> 2 * level) + 1;
        struct place p = around(fine, 2 * (at >> level & mask) + 1,
                                2 * (at & mask) + 1);
        c[at] =
            apply(weights, sums(f + ((int64_t)(k - 1) << 2 * fine), p),
                  sums(f + ((int64_t)k << 2 * fine), p),
                  sums(f + ((int64_t)((k + 1) & fine_mask) << 2 * fine), p));
    }
}

/* u of a level from the trilinear interpolation of the level below it: added on
 * the top level, stored on the others. A thread does the four points of a pair
 * of planes and rows, whose coarse neighbours are the same. */
static void interpolate(int level)
{
    const double *c = u_at(level - 1);
    double *f = u_at(level);
    int quads = 1 << (3 * level - 2);
    bool adds = level == TOP;
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : c[ : LEVEL_SIZE(level - 1)], f[ : LEVEL_SIZE(level)])
    for (int q = 0; q < quads; q++) {
        int coarse = level - 1, mask = (1 << coarse) - 1;
        int i = q & ((1 << level) - 1);
        int j = q >> level & mask, k = q >> (level + coarse);
        /* Fine point 2i + 1 is coarse point i, 2i lies between i - 1 and i. */
        int left = (i - 1) >> 1 & mask, right = i >> 1;
        int j0 = ((j - 1) & mask) << coarse, j1 = j << coarse;
        const double *c0 = c + ((int64_t)((k - 1) & mask) << 2 * coarse);
        const double *c1 = c + ((int64_t)k << 2 * coarse);
        double line[2][2] = {
            {0.5 * (c0[j0 + left] + c0[j0 + right]),
             0.5 * (c0[j1 + left] + c0[j1 + right])},
            {0.5 * (c1[j0 + left] + c1[j0 + right]),
             0.5 * (c1[j1 + left] + c1[j1 + right])},
        };
        double *to = f + ((int64_t)(2 * k) << 2 * level) + (2 * j << level) + i;
        int64_t row = 1 << level, plane = row * row;
        double both = 0.5 * (line[1][0] + line[1][1]);
        double values[4] = {0.5 * (0.5 * (line[0][0] + line[0][1]) + both),
                            0.5 * (line[0][1] + line[1][1]), both, line[1][1]};
        to[0] = adds ? to[0] + values[0] : values[0];
        to[row] = adds ? to[row] + values[1] : values[1];
        to[plane] = adds ? to[plane] + values[2] : values[2];
        to[plane + row] = adds ? to[plane + row] + values[3] : values[3];
    }
}

/* One V-cycle on the residual in r: improves u on the top level. */
static void v_cycle(void)
{
    for (int level = TOP - 1; level >= 1; level--)
        restrict_to(level);
    combine(1, 1.0, SMOOTHER, r_at(1), NULL, u_at(1));
    for (int level = 2; level <= TOP; level++) {
        interpolate(level);
        residual(level, u_at(level), level < TOP ? r_at(level) : v,
                 r_at(level));
        smooth(level);
    }
}

static double residual_norm(void)
{
    const double *r = r_at(TOP);
    const int64_t points = LEVEL_SIZE(TOP);
    double sum = 0.0;
#pragma omp target teams distribute parallel for reduction(+ : sum)           \
    map(present, alloc : r[ : points])
    for (int at = 0; at < points; at++)
        sum += r[at] * r[at];
    return sqrt(sum / (double)points);
}

static void set_zero(double *grid)
{
    const int64_t points = LEVEL_SIZE(TOP);
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : grid[ : points])
    for (int at = 0; at < points; at++)
        grid[at] = 0.0;
}

/* Sets v on the device: +1 and -1 at the charges, 0 elsewhere. */
static void make_right_side(void)
{
    struct extremes high, low;
    find_charges(&high, &low);
    set_zero(v);
#pragma omp target map(to : high, low) map(present, alloc : v[ : LEVEL_SIZE(TOP)])
    for (int s = 0; s < CHARGES; s++) {
        v[((int64_t)high.at[s][0] * SIDE + high.at[s][1]) * SIDE +
          high.at[s][2]] = 1.0;
        v[((int64_t)low.at[s][0] * SIDE + low.at[s][1]) * SIDE +
          low.at[s][2]] = -1.0;
    }
}

/* The timed part; the norm of the last residual. */
static double solve(void)
{
    residual(TOP, u_at(TOP), v, r_at(TOP));
    printf("   iteration   0  norm %20.13E\n", residual_norm());
    for (int it = 1; it <= ITERATIONS; it++) {
        v_cycle();
        residual(TOP, u_at(TOP), v, r_at(TOP));
    }
    return residual_norm();
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
    /* Of these the host uses only the addresses, unless it is the device. */
    u_levels = malloc(sizeof(double) * LEVELS_SIZE(TOP));
    r_levels = malloc(sizeof(double) * LEVELS_SIZE(TOP));
    v = malloc(sizeof(double) * LEVEL_SIZE(TOP));
    if (u_levels == NULL || r_levels == NULL || v == NULL) {
        fprintf(stderr, "MG: no memory for the grids\n");
        return 1;
    }
    double last;
#pragma omp target data map(alloc : u_levels[ : LEVELS_SIZE(TOP)],            \
                                r_levels[ : LEVELS_SIZE(TOP)],                \
                                v[ : LEVEL_SIZE(TOP)])
    {
        make_right_side();
        set_zero(u_at(TOP));
        residual(TOP, u_at(TOP), v, r_at(TOP));
        v_cycle();
        residual(TOP, u_at(TOP), v, r_at(TOP));
        set_zero(u_at(TOP));

        double start = npb_wtime();
        last = solve();
        result.seconds = npb_wtime() - start;
    }
    free(u_levels), free(r_levels), free(v);

    last = NPB_SPOIL(last);
    result.verified = npb_check("residual L2", last,
                                NPB_PICK(NPB_MG_RESIDUAL_L2_),
                                NPB_MG_TOLERANCE);
    npb_report(&result);
    return npb_exit_status(&result);
}
