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

static const long POINTS = 32L << 20;
static const long BODIES_OF_MASS = 16L << 20;
enum { CENTRES = 8 };

typedef struct {
  float x, y;
} Point;

/* Not every one of the programs uses all of this. */
#pragma GCC diagnostic ignored "-Wunused-function"
static Point point(long i) {
  Point p = {(float)(i * 7919L % 1009), (float)(i * 104729L % 997)};
  return p;
}
static Point first_centre(int c) {
  Point p = {(float)(c * 120 + 60), (float)((c * 370) % 1000)};
  return p;
}
static void new_centres(Point *centres, const double *sums) {
  for (int c = 0; c < CENTRES; c++)
    if (sums[3 * c + 2] > 0)
      centres[c].x = (float)(sums[3 * c] / sums[3 * c + 2]),
      centres[c].y = (float)(sums[3 * c + 1] / sums[3 * c + 2]);
}

typedef struct {
  double x[3], v[3], mass;
  long id;
} Body;

static Body body(long i) {
  Body b = {{(double)i, 0, 0}, {0.5, 0.5, 0.5}, 1, i};
  return b;
}

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
