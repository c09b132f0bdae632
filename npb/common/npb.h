/*
 * What the eight benchmarks share: the choice of a class, the random numbers,
 * the clock, the test of a figure against its reference, the closing report.
 *
 * A class is chosen when a benchmark is compiled (-DNPB_CLASS=S, W, A, B or C),
 * because sizes are compile-time constants and the arrays are static, as the
 * reports' own programs have them. Nothing here reads the environment or the
 * command line, and nothing here opens a parallel region.
 */
#ifndef NPB_COMMON_NPB_H
#define NPB_COMMON_NPB_H

#include <stdbool.h>
#include <stdint.h>

#ifndef NPB_CLASS
#define NPB_CLASS S
#endif

#define NPB_PASTE_RAW(a, b) a##b
#define NPB_PASTE(a, b) NPB_PASTE_RAW(a, b)
#define NPB_QUOTE_RAW(a) #a
#define NPB_QUOTE(a) NPB_QUOTE_RAW(a)

/* NPB_PICK(NPB_CG_NA_) is NPB_CG_NA_S when NPB_CLASS is S: the reference
 * headers name every figure with its class at the end. */
#define NPB_PICK(prefix) NPB_PASTE(prefix, NPB_CLASS)

#define NPB_CLASS_S 1
#define NPB_CLASS_W 2
#define NPB_CLASS_A 3
#define NPB_CLASS_B 4
#define NPB_CLASS_C 5
/* For #if: NPB_CLASS_ID == NPB_CLASS_W and the like. */
#define NPB_CLASS_ID NPB_PICK(NPB_CLASS_)
#if NPB_CLASS_ID < NPB_CLASS_S || NPB_CLASS_ID > NPB_CLASS_C
#error "NPB_CLASS is one of S, W, A, B, C"
#endif
#define NPB_CLASS_LETTER (NPB_QUOTE(NPB_CLASS)[0])

#define NPB_PI 3.141592653589793238462643

/* ---- random numbers (random.c) ---- */

/* The multiplier 5^13 that every benchmark uses, and the usual first seed. */
#define NPB_LCG_A 1220703125.0
#define NPB_LCG_SEED 314159265.0

/* Steps the generator x <- a x mod 2^46 (NAS-91-002, section 2.3) once and
 * returns the new x divided by 2^46, which lies between 0 and 1. a and *x are
 * whole numbers below 2^46 held in doubles. */
double npb_randlc(double *x, double a);

/* Does n steps and stores the n values in y; *x is left at the last state. */
void npb_vranlc(int n, double *x, double a, double *y);

/* a^n mod 2^46, n >= 0: the multiplier that skips n steps at once, so that
 * threads can start at any place of the one sequence. */
double npb_lcg_power(double a, int64_t n);

/* ---- time (timer.c) ---- */

/* Seconds of wall-clock time since some fixed moment. */
double npb_wtime(void);

/* ---- verification (report.c) ---- */

/* Whether |computed - reference| <= tolerance * |reference|. A NaN on either
 * side is not close to anything. reference must not be 0. */
bool npb_close_enough(double computed, double reference, double tolerance);

/* Prints one line for a checked figure, prefixed by a mark if it is wrong,
 * and returns npb_close_enough of it. */
bool npb_check(const char *what, double computed, double reference,
               double tolerance);

/* Built with -DNPB_PERTURB every benchmark spoils one key result just before
 * it is verified: such a run must print UNSUCCESSFUL and exit with 1, which
 * shows that verification can fail. */
#ifdef NPB_PERTURB
#define NPB_SPOIL(x) ((x) * (1.0 + 1e-6))
#else
#define NPB_SPOIL(x) (x)
#endif

/* ---- report (report.c) ---- */

struct npb_result {
    const char *name;      /* "CG" */
    int dimensions;        /* how many of size[] count: 1 or 3 */
    int64_t size[3];       /* problem size: one number, or a grid */
    int iterations;        /* timed iterations */
    double seconds;        /* length of the timed part, wall clock */
    double operations;     /* counted operations of the timed part */
    const char *operation; /* what was counted: "floating point" */
    bool verified;         /* every checked figure was right */
};

/* Prints the opening lines: name, class, size, iterations, threads. */
void npb_banner(const struct npb_result *r);

/* Prints the closing report in the benchmarks' customary layout. */
void npb_report(const struct npb_result *r);

/* The exit status that belongs to r: 0 when verified, otherwise 1. */
int npb_exit_status(const struct npb_result *r);

#endif
