/* What the OpenMP and the CUDA version of the measurements share: sizes, the clock, the report.
 *
 * Each case prints `case value unit better`, where `better` says whether more or less is better. A
 * case runs several times and the best run counts; how often a region runs within it is the same in
 * both versions.
 */
#ifndef OFFLOAD_COMMON_H
#define OFFLOAD_COMMON_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EMPTY = 2000, SMALL = 1000, SMALL_N = 4096, RUNS = 5 };
static const long VECTOR = 64L << 20;
static const int GRID = 8192;
static const long OPTIONS = 16L << 20;
static const long SAMPLES = 1L << 30;
static const int BODIES = 1 << 16;
static const int MATRIX = 2048;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell(const char *name, double value, const char *unit, const char *better) {
  printf("%s %.4g %s %s\n", name, value, unit, better);
  fflush(stdout);
}

static void expect(const char *name, double got, double wanted, double tolerance) {
  double scale = fabs(wanted) > 1 ? fabs(wanted) : 1;
  if (!(fabs(got - wanted) <= tolerance * scale)) {
    printf("WRONG %s: %.17g instead of %.17g\n", name, got, wanted);
    fflush(stdout);
  }
}

/* Runs the statement after it RUNS times; `time` becomes the shortest time. */
#define BEST(time)                                                              \
  for (double start_ = (time = 1e30, now()), run_ = 0; run_ < RUNS;             \
       time = fmin(time, now() - start_), start_ = now(), run_ += 1)

#endif
