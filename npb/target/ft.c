/*
 * FT for devices: see ft.c for the problem (NAS-91-002, section 2.2.4). All
 * fields live on the device; the host sees one checksum for each time step.
 *
 * A one-dimensional transform is Stockham's, as there, but with a large radix:
 * a thread reads up to 32 points of a line into registers, transforms them and
 * writes them, so that a line takes one or two passes over memory, which is
 * what a transform costs on a GPU. A pass does all lines of an axis at once, and
 * neighbouring threads do neighbouring points of the fastest axis that can be
 * had: along y and z the neighbouring line's, along x the line's own next.
 * A pass reads one field and writes another, in which points of a line change
 * places. Sizes are powers of two, so a place comes from a thread's number by
 * shifts.
 *
 * A field is a sequence of planes of equal z, its spectrum one of planes of
 * equal y. The passes along z that come first forward and last backward change
 * between the two on the way. All other loops then keep within the planes whose
 * places come from their own share of the iterations, so devices that have a
 * part of each field exchange data once in a time step.
 *
 * Both directions leave out the factor 1/(nx ny nz); the checksums put it in.
 *
 * Timed: all of it - exponentials, initial values, roots of unity, transforms,
 * checksums - after one untimed set-up and forward transform. Checked: the
 * complex checksum of every time step.
 */
#include "../common/lcg.h"
#include "../common/npb.h"
#include "../reference/ft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG2(n)                                                               \
    ((n) == 32 ? 5 : (n) == 64 ? 6 : (n) == 128 ? 7 : (n) == 256 ? 8 : 9)

enum {
    NX = NPB_PICK(NPB_FT_NX_),
    NY = NPB_PICK(NPB_FT_NY_),
    NZ = NPB_PICK(NPB_FT_NZ_),
    LOG2_X = LOG2(NX),
    LOG2_Y = LOG2(NY),
    LOG2_Z = LOG2(NZ),
    ITERATIONS = NPB_PICK(NPB_FT_ITERATIONS_),
    POINTS = NX * NY * NZ,
    LONGEST = NX > NY ? (NX > NZ ? NX : NZ) : (NY > NZ ? NY : NZ),
    STREAMS = POINTS / 64, /* iterations of the loop that draws numbers */
    CHECKED = 1024
};
_Static_assert(NX == 1 << LOG2_X && NY == 1 << LOG2_Y && NZ == 1 << LOG2_Z,
               "sides are known powers of two");

static const double ALPHA = 1e-6;

#pragma omp begin declare target
/* Aligned so that both parts are one access. */
struct complex_number {
    _Alignas(16) double re;
    double im;
};
typedef struct complex_number complex_number;

static inline complex_number times(complex_number a, complex_number b)
{
    return (complex_number){a.re * b.re - a.im * b.im,
                            a.re * b.im + a.im * b.re};
}
#pragma omp end declare target

/* The fields, which only the device fills. */
static complex_number *spectrum, *field, *spare;
static double *decay;

static complex_number root[LONGEST]; /* exp(2 pi i p / LONGEST) */

static complex_number checksum[ITERATIONS];
static const double reference[ITERATIONS][2] = NPB_PICK(NPB_FT_CHECKSUMS_);

#pragma omp begin declare target
/* Place i of n on an axis as a frequency from -n/2 to n/2 - 1. */
static inline int frequency(int i, int n)
{
    return i < n / 2 ? i : i - n;
}
#pragma omp end declare target

/* How much each component of the spectrum decays in one time step. */
static void make_decay(void)
{
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : decay[ : POINTS])
    for (int at = 0; at < POINTS; at++) {
        const double rate = -4.0 * ALPHA * NPB_PI * NPB_PI;
        int fx = frequency(at & (NX - 1), NX);
        int fz = frequency(at >> LOG2_X & (NZ - 1), NZ);
        int fy = frequency(at >> (LOG2_X + LOG2_Z), NY);
        decay[at] = exp(rate * (fx * fx + fy * fy + fz * fz));
    }
}

/* Random numbers in the order of storage, real before imaginary part. Iteration
 * s draws the numbers of points s, s + STREAMS and so on. */
static void make_initial_field(void)
{
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : field[ : POINTS])
    for (int s = 0; s < STREAMS; s++) {
        const uint64_t a = (uint64_t)NPB_LCG_A;
        const uint64_t stride = npb_lcg_jump(2 * (uint64_t)STREAMS);
        uint64_t state = npb_lcg_step((uint64_t)NPB_LCG_SEED,
                                      npb_lcg_jump(2 * (uint64_t)s));
        for (int at = s; at < POINTS; at += STREAMS) {
            uint64_t re = npb_lcg_step(state, a), im = npb_lcg_step(re, a);
            field[at] =
                (complex_number){npb_lcg_unit(re), npb_lcg_unit(im)};
            state = npb_lcg_step(state, stride);
        }
    }
}

static void make_roots(void)
{
    for (int p = 0; p < LONGEST; p++) {
        double angle = 2.0 * NPB_PI * p / LONGEST;
        root[p].re = cos(angle);
        root[p].im = sin(angle);
    }
#pragma omp target update to(root)
}

#pragma omp begin declare target

/* The first quarter of exp(2 pi i p / 32). */
static const complex_number thirtysecond[8] = {
    {1.0, 0.0},
    {0.98078528040323043, 0.19509032201612825},
    {0.92387953251128674, 0.38268343236508977},
    {0.83146961230254524, 0.55557023301960218},
    {0.70710678118654752, 0.70710678118654752},
    {0.55557023301960218, 0.83146961230254524},
    {0.38268343236508977, 0.92387953251128674},
    {0.19509032201612825, 0.98078528040323043},
};

/* a times exp(sign 2 pi i p / 32), p below 16. With constants nothing is left
 * of it for p 0, and a swap for p 8. */
static inline complex_number turned(complex_number a, int p, double sign)
{
    complex_number w = thirtysecond[p & 7];
    if (p >= 8)
        w = (complex_number){-w.im, w.re};
    if (p == 0)
        return a;
    if (p == 8)
        return (complex_number){-sign * a.im, sign * a.re};
    w.im *= sign;
    return times(a, w);
}

/* Transforms the n points in a, which are registers: n is a constant, and the
 * loops are unrolled. The result is in bit-reversed order. */
static inline __attribute__((always_inline)) void
transform_registers(int n, double sign, complex_number *a)
{
#pragma clang loop unroll(full)
    for (int length = n; length > 1; length /= 2) {
        int half = length / 2;
#pragma clang loop unroll(full)
        for (int b = 0; b < n / 2; b++) {
            int p = b % half, low = b / half * length + p;
            complex_number x = a[low], y = a[low + half];
            complex_number d = {x.re - y.re, x.im - y.im};
            a[low] = (complex_number){x.re + y.re, x.im + y.im};
            a[low + half] = turned(d, p * (32 / length), sign);
        }
    }
}

/* The lowest `bits` bits of i, the last first. */
static inline __attribute__((always_inline)) int reversed(int i, int bits)
{
    int result = 0;
#pragma clang loop unroll(full)
    for (int b = 0; b < bits; b++)
        result |= (i >> b & 1) << (bits - 1 - b);
    return result;
}

/* Where the points of a line lie in a field: log2 of the distance of neighbours
 * on the line, and of neighbouring lines, apart from those side by side. */
struct places {
    int log2_apart, log2_lines;
};
typedef struct places places;

/* A pass of radix 2^bits over lines whose parts have `log2_length` points left,
 * with 2^log2_parts parts: what thread t of it does. 2^log2_beside lines lie
 * side by side. */
static inline __attribute__((always_inline)) void
pass(int bits, int t, int log2_length, int log2_parts, int log2_beside,
     places reads, places writes, double sign, const complex_number *roots,
     const complex_number *from, complex_number *to)
{
    complex_number a[1 << bits];
    int log2_rest = log2_length - bits; /* the part's length after the pass */
    int beside = t & ((1 << log2_beside) - 1);
    int q = t >> log2_beside & ((1 << log2_parts) - 1);
    int p = t >> (log2_beside + log2_parts) & ((1 << log2_rest) - 1);
    int line = t >> (log2_beside + log2_parts + log2_rest);
    int read = (line << reads.log2_lines | beside) +
               ((p << log2_parts | q) << reads.log2_apart);
    int stride = log2_rest + log2_parts + reads.log2_apart;
#pragma clang loop unroll(full)
    for (int r = 0; r < 1 << bits; r++)
        a[r] = from[read + (r << stride)];
    transform_registers(1 << bits, sign, a);
    int step = p * (LONGEST >> log2_length);
    int write = (line << writes.log2_lines | beside) +
                ((p << (bits + log2_parts) | q) << writes.log2_apart);
#pragma clang loop unroll(full)
    for (int r = 0; r < 1 << bits; r++) {
        complex_number w = roots[r * step];
        w.im *= sign;
        to[write + (r << (log2_parts + writes.log2_apart))] =
            times(a[reversed(r, bits)], w);
    }
}

#pragma omp end declare target

/* One pass over all lines of an axis. */
static void all_lines(int bits, int log2_length, int log2_parts,
                      int log2_beside, places reads, places writes, double sign,
                      const complex_number *from, complex_number *to)
{
    int read_apart = reads.log2_apart, read_lines = reads.log2_lines;
    int write_apart = writes.log2_apart, write_lines = writes.log2_lines;
    if (bits == 5) {
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : from[ : POINTS], to[ : POINTS])
        for (int t = 0; t < POINTS >> 5; t++)
            pass(5, t, log2_length, log2_parts, log2_beside,
                 (places){read_apart, read_lines},
                 (places){write_apart, write_lines}, sign, root, from, to);
    } else if (bits == 4) {
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : from[ : POINTS], to[ : POINTS])
        for (int t = 0; t < POINTS >> 4; t++)
            pass(4, t, log2_length, log2_parts, log2_beside,
                 (places){read_apart, read_lines},
                 (places){write_apart, write_lines}, sign, root, from, to);
    } else {
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : from[ : POINTS], to[ : POINTS])
        for (int t = 0; t < POINTS >> 3; t++)
            pass(3, t, log2_length, log2_parts, log2_beside,
                 (places){read_apart, read_lines},
                 (places){write_apart, write_lines}, sign, root, from, to);
    }
}

/* Transforms the lines of an axis, `given` as they lie in *from and `wanted` in
 * the result, which becomes *from; both fields are overwritten. Passes between
 * work with the points as they lie in the spectrum. Of a line of 2^5 to 2^9
 * points the first pass does 2^5, 2^3, 2^4, 2^4 or 2^5. */
static void transform_axis(int log2_length, int log2_beside, places given,
                           places between, places wanted, double sign,
                           complex_number **from, complex_number **to)
{
    static const int first[] = {[5] = 5, [6] = 3, [7] = 4, [8] = 4, [9] = 5};
    int done = 0, bits = first[log2_length];
    while (done < log2_length) {
        bool last = done + bits == log2_length;
        all_lines(bits, log2_length - done, done, log2_beside,
                  done == 0 ? given : between, last ? wanted : between, sign,
                  *from, *to);
        complex_number *t = *from;
        *from = *to;
        *to = t;
        done += bits;
        bits = log2_length - done;
    }
}

static void transform_x(double sign, complex_number **from, complex_number **to)
{
    places rows = {.log2_apart = 0, .log2_lines = LOG2_X};
    transform_axis(LOG2_X, 0, rows, rows, rows, sign, from, to);
}

static void transform_y(double sign, complex_number **from, complex_number **to)
{
    places columns = {.log2_apart = LOG2_X, .log2_lines = LOG2_X + LOG2_Y};
    transform_axis(LOG2_Y, LOG2_X, columns, columns, columns, sign, from, to);
}

/* Along z, from the field to the spectrum (sign 1) or back. */
static void transform_z(double sign, complex_number **from, complex_number **to)
{
    places field = {.log2_apart = LOG2_X + LOG2_Y, .log2_lines = LOG2_X};
    places spectrum = {.log2_apart = LOG2_X, .log2_lines = LOG2_X + LOG2_Z};
    bool forward = sign > 0.0;
    transform_axis(LOG2_Z, LOG2_X, forward ? field : spectrum, spectrum,
                   forward ? spectrum : field, sign, from, to);
}

/* Sets up and transforms the initial field to the spectrum. */
static void begin(void)
{
    make_decay();
    make_initial_field();
    make_roots();
    transform_x(1.0, &field, &spare);
    transform_y(1.0, &field, &spare);
    transform_z(1.0, &field, &spare);
    complex_number *t = spectrum;
    spectrum = field;
    field = t;
}

/* One time step in the spectrum, and a copy of it to be transformed back. */
static void evolve(void)
{
#pragma omp target teams distribute parallel for                              \
    map(present, alloc : spectrum[ : POINTS], field[ : POINTS],               \
            decay[ : POINTS])
    for (int at = 0; at < POINTS; at++) {
        complex_number c = spectrum[at];
        c.re *= decay[at];
        c.im *= decay[at];
        spectrum[at] = c;
        field[at] = c;
    }
}

static complex_number field_checksum(void)
{
    double re = 0.0, im = 0.0;
#pragma omp target teams distribute parallel for reduction(+ : re, im)        \
    map(present, alloc : field[ : POINTS])
    for (int n = 1; n <= CHECKED; n++) {
        int k = 5 * n % NZ, j = 3 * n % NY, i = n % NX;
        complex_number c = field[(k * NY + j) * NX + i];
        re += c.re;
        im += c.im;
    }
    return (complex_number){re / POINTS, im / POINTS};
}

static bool verify(void)
{
    bool right = true;
    for (int it = 0; it < ITERATIONS; it++) {
        char what[32];
        snprintf(what, sizeof what, "step %d re", it + 1);
        right &= npb_check(what, checksum[it].re, reference[it][0],
                           NPB_FT_TOLERANCE);
        snprintf(what, sizeof what, "step %d im", it + 1);
        right &= npb_check(what, checksum[it].im, reference[it][1],
                           NPB_FT_TOLERANCE);
    }
    return right;
}

static double solve(void)
{
    double start = npb_wtime();
    begin();
    for (int it = 0; it < ITERATIONS; it++) {
        evolve();
        transform_z(-1.0, &field, &spare);
        transform_y(-1.0, &field, &spare);
        transform_x(-1.0, &field, &spare);
        checksum[it] = field_checksum();
    }
    return npb_wtime() - start;
}

int main(void)
{
    const double points = POINTS;
    struct npb_result result = {
        .name = "FT",
        .dimensions = 3,
        .size = {NX, NY, NZ},
        .iterations = ITERATIONS,
        .operations = points * (14.8157 + 7.19641 * log(points) +
                                (5.23518 + 7.21113 * log(points)) * ITERATIONS),
        .operation = "floating point",
    };
    npb_banner(&result);
    /* Of these the host uses only the addresses, unless it is the device. */
    spectrum = malloc(sizeof *spectrum * POINTS);
    field = malloc(sizeof *field * POINTS);
    spare = malloc(sizeof *spare * POINTS);
    decay = malloc(sizeof *decay * POINTS);
    complex_number *fields[3] = {spectrum, field, spare};
    if (!spectrum || !field || !spare || !decay) {
        fprintf(stderr, "FT: no memory for the fields\n");
        return 1;
    }
#pragma omp target data map(alloc : spectrum[ : POINTS], field[ : POINTS],    \
                                spare[ : POINTS], decay[ : POINTS], root)
    {
        begin();
        result.seconds = solve();
    }
    for (int f = 0; f < 3; f++)
        free(fields[f]);
    free(decay);

    checksum[ITERATIONS - 1].re = NPB_SPOIL(checksum[ITERATIONS - 1].re);
    result.verified = verify();
    npb_report(&result);
    return npb_exit_status(&result);
}
