// OpenMP 5.2, sections 5.5.8 and 3.2.5: reductions over arrays and sections of them on a device without `target`: of
// several types and sizes, with fewer and with more iterations than threads, in loops with each schedule.
#include "../check.h"
#include <math.h>
enum { MANY = 100000, FEW = 7, CENTRES = 8, LARGE = 250 };
typedef struct {
  double sum;
  int count;
  short least;
} Part;
static void add(Part *into, const Part *from) {
  into->sum += from->sum, into->count += from->count;
  if (from->least < into->least) into->least = from->least;
}
#pragma omp declare reduction(parts : Part : add(&omp_out, &omp_in)) initializer(omp_priv = (Part){0, 0, 32767})
static int pick(long i) { return (int)((unsigned long)i * 2654435761u >> 7 & 7); }
static void points(long n, const float *x, const float *y) {
  double sums[CENTRES * 3] = {0}, want[CENTRES * 3] = {0};
  int counts[CENTRES] = {1, 2};
#pragma omp parallel for reduction(+ : sums, counts)
  for (long i = 0; i < n; i++) {
    int best = pick(i);
    sums[3 * best] += x[i], sums[3 * best + 1] += y[i], sums[3 * best + 2] += 1;
    counts[best]++;
  }
  for (long i = 0; i < n; i++) {
    int best = pick(i);
    want[3 * best] += x[i], want[3 * best + 1] += y[i], want[3 * best + 2] += 1;
  }
  for (int c = 0; c < CENTRES; c++) {
    for (int k = 0; k < 3; k++) CHECK(fabs(sums[3 * c + k] - want[3 * c + k]) <= 1e-9 * fabs(want[3 * c + k]));
    CHECK(counts[c] == (int)want[3 * c + 2] + (c == 0) + 2 * (c == 1));
  }
}
static void sections(long n, const float *x) {
  float *low = malloc(sizeof(float) * 12);
  long *high = malloc(sizeof(long) * 12);
  unsigned char bits[16] = {0};
  for (int i = 0; i < 12; i++) low[i] = 1e9f, high[i] = -5;
#pragma omp parallel for reduction(min : low[2 : 8]) reduction(max : high[4 : 8]) reduction(| : bits) schedule(dynamic, 5)
  for (long i = 0; i < n; i++) {
    int k = pick(i);
    if (x[i] < low[2 + k]) low[2 + k] = x[i];
    if (i > high[4 + k]) high[4 + k] = i;
    bits[2 * k] |= (unsigned char)(1u << (i & 7));
  }
  for (int k = 0; k < 8; k++) {
    float least = 1e9f;
    long most = -5;
    unsigned char all = 0;
    for (long i = 0; i < n; i++)
      if (pick(i) == k) {
        if (x[i] < least) least = x[i];
        most = i, all |= (unsigned char)(1u << (i & 7));
      }
    CHECK(low[2 + k] == least && high[4 + k] == most && bits[2 * k] == all && bits[2 * k + 1] == 0);
  }
  CHECK(low[0] == 1e9f && low[1] == 1e9f && low[10] == 1e9f && high[3] == -5);
  free(low), free(high);
}
static void structures(long n, const float *x) {
  Part parts[CENTRES];
  for (int c = 0; c < CENTRES; c++) parts[c] = (Part){0.5, 1, 30000};
#pragma omp parallel for reduction(parts : parts) schedule(static, 3)
  for (long i = 0; i < n; i++) {
    Part one = {x[i], 1, (short)(i % 1000)};
    add(&parts[pick(i)], &one);
  }
  for (int c = 0; c < CENTRES; c++) {
    Part want = {0.5, 1, 30000};
    for (long i = 0; i < n; i++) {
      Part one = {x[i], 1, (short)(i % 1000)};
      if (pick(i) == c) add(&want, &one);
    }
    CHECK(fabs(parts[c].sum - want.sum) <= 1e-9 * want.sum);
    CHECK(parts[c].count == want.count && parts[c].least == want.least);
  }
}
static void histogram(unsigned n) {
  static long bins[LARGE], want[LARGE];
  int middle[100] = {0};
  memset(bins, 0, sizeof bins), memset(want, 0, sizeof want);
#pragma omp parallel for reduction(+ : bins)
  for (unsigned i = 0; i < n; i++) bins[i * 7919u % LARGE] += i;
#pragma omp parallel for reduction(+ : middle)
  for (unsigned i = 0; i < n; i++) middle[i % 97 + 1]++;
  for (unsigned i = 0; i < n; i++) want[i * 7919u % LARGE] += i;
  for (int b = 0; b < LARGE; b++) CHECK(bins[b] == want[b]);
  CHECK(middle[0] == 0 && middle[98] == 0 && middle[99] == 0);
  for (unsigned b = 0; b < 97; b++) CHECK(middle[b + 1] == (int)((n + 96 - b) / 97));
}
static int larger(int a, int b) { return a > b ? a : b; }
static void mixed(long n, const float *x) {
  // An array with data-dependent element updates next to scalars, and one that is written but not read.
  double sum = 0.25;
  int least = 1 << 30, most[CENTRES], last[4] = {-1, -1, -1, -1};
  for (int k = 0; k < CENTRES; k++) most[k] = -3;
#pragma omp parallel for reduction(+ : sum) reduction(min : least) reduction(max : most, last)
  for (long i = 0; i < n; i++) {
    int k = pick(i);
    sum += x[i];
    least = (int)x[i] < least ? (int)x[i] : least;
    most[k] = larger(most[k], (int)x[i]);
    last[i & 3] = (int)i;
  }
  double total = 0.25;
  int low = 1 << 30, high[CENTRES], end[4] = {-1, -1, -1, -1};
  for (int k = 0; k < CENTRES; k++) high[k] = -3;
  for (long i = 0; i < n; i++) {
    total += x[i], end[i & 3] = (int)i;
    low = (int)x[i] < low ? (int)x[i] : low;
    high[pick(i)] = larger(high[pick(i)], (int)x[i]);
  }
  CHECK(fabs(sum - total) <= 1e-9 * total && least == low);
  for (int k = 0; k < CENTRES; k++) CHECK(most[k] == high[k]);
  for (int k = 0; k < 4; k++) CHECK(last[k] == end[k]);
}
static void fixed(long n, const float *x) {
  // Each part is indexed by a constant: no element is data-dependent.
  double moments[4] = {0, 0, 0, 1}, want[4] = {0, 0, 0, 1};
#pragma omp parallel for reduction(+ : moments)
  for (long i = 0; i < n; i++) {
    double v = x[i];
    moments[0] += 1, moments[1] += v, moments[2] += v * v, moments[3] += v * v * v;
  }
  for (long i = 0; i < n; i++) {
    double v = x[i];
    want[0] += 1, want[1] += v, want[2] += v * v, want[3] += v * v * v;
  }
  for (int k = 0; k < 4; k++) CHECK(fabs(moments[k] - want[k]) <= 1e-9 * want[k]);
}
int main(void) {
  float *x = malloc(sizeof(float) * MANY), *y = malloc(sizeof(float) * MANY);
  for (long i = 0; i < MANY; i++) x[i] = (float)(i * 7919 % 1009), y[i] = (float)(i * 104729 % 997);
  for (long n = FEW; n <= MANY; n = n == FEW ? 300 : n == 300 ? MANY : MANY + 1) {
    points(n, x, y);
    sections(n, x);
    structures(n, x);
    histogram((unsigned)n);
    fixed(n, x);
    mixed(n, x);
  }
  free(x), free(y);
  return DONE();
}
