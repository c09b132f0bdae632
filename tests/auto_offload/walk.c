// OpenMP 5.2, sections 11.5, 11.1 and 5.5: regions with several loops, reductions, parts for one thread and sequential
// loops around them on a device without `target`: the loops are kernels, and the host interprets the rest.
// flags: -g
#include "../check.h"
#include <math.h>
enum { N = 3000, LARGE = 20000 };
static double a[N], b[N], c[LARGE], d[LARGE];
static void two(int n) {
  // Two reductions in sequence; the second uses the result of the first.
  double sum = 1, squares = 0, most = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += a[i];
    double mean = sum / n;
#pragma omp for reduction(+ : squares) reduction(max : most)
    for (int i = 0; i < n; i++) {
      squares += (a[i] - mean) * (a[i] - mean);
      if (a[i] > most) most = a[i];
    }
  }
  double s = 1, q = 0;
  for (int i = 0; i < n; i++) s += a[i];
  for (int i = 0; i < n; i++) q += (a[i] - s / n) * (a[i] - s / n);
  CHECK(fabs(sum - s) <= 1e-12 * s && fabs(squares - q) <= 1e-12 * q);
  CHECK(most == a[n - 1]);
}
static double solve(int n, int steps, double *residual) {
  // Conjugate gradients, as in the NAS benchmarks: a sequential loop, a part for one thread, an unguarded loop.
  double *x = malloc(sizeof(double) * n), *r = malloc(sizeof(double) * n), *p = malloc(sizeof(double) * n),
         *q = malloc(sizeof(double) * n);
  double rho = 0, before = 0, pq = 0, rest = 0;
#pragma omp parallel
  {
#pragma omp for schedule(static) reduction(+ : rho)
    for (int i = 0; i < n; i++) {
      x[i] = 0;
      r[i] = p[i] = 1 + i % 3;
      rho += r[i] * r[i];
    }
    for (int step = 0; step < steps; step++) {
#pragma omp single
      {
        before = rho;
        rho = 0;
        pq = 0;
      }
#pragma omp for schedule(static) nowait
      for (int i = 0; i < n; i++) q[i] = 4 * p[i] - (i ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
#pragma omp for schedule(static) reduction(+ : pq)
      for (int i = 0; i < n; i++) pq += p[i] * q[i];
      double alpha = before / pq;
#pragma omp for schedule(static) reduction(+ : rho)
      for (int i = 0; i < n; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        rho += r[i] * r[i];
      }
      double beta = rho / before;
#pragma omp for schedule(static)
      for (int i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
    }
#pragma omp for schedule(static) reduction(+ : rest)
    for (int i = 0; i < n; i++) {
      double e = 1 + i % 3 - (4 * x[i] - (i ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0));
      rest += e * e;
    }
  }
  *residual = rest;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  free(x), free(r), free(p), free(q);
  return sum;
}
static int until(int n, double limit) {
  // The number of iterations depends on the loop's results.
  int steps = 0;
  double change = 1;
  for (int i = 0; i < n; i++) a[i] = i == 0, b[i] = 0;
#pragma omp parallel
  {
    while (change > limit) {
#pragma omp barrier
#pragma omp single
      change = 0, steps++;
#pragma omp for
      for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 2;
#pragma omp for reduction(max : change)
      for (int i = 1; i < n - 1; i++) {
        double by = fabs(b[i] - a[i]);
        if (by > change) change = by;
        a[i] = b[i];
      }
    }
  }
  return steps;
}
static int plainly(int n, double limit) {
  int steps = 0;
  double change = 1;
  for (int i = 0; i < n; i++) a[i] = i == 0, b[i] = 0;
  while (change > limit) {
    change = 0, steps++;
    for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 2;
    for (int i = 1; i < n - 1; i++) change = fmax(change, fabs(b[i] - a[i])), a[i] = b[i];
  }
  return steps;
}
static const int list[] = {100, 0, 1, 2900, 17};
static long sums[6];
static void around(int n, int m, float scale) {
  // Values of several types from outside the loops, an inner bound in memory, arrays written by one thread and
  // large enough to be on the device only.
  unsigned char flag = 200;
  long total = 0;
#pragma omp parallel
  {
    for (int k = 0; k < m; k++) {
      int end = list[k];
      float half = scale / (float)(k + 1);
      double *row = c + k;
      short odd = (short)(k % 2 ? -3 : 5);
#pragma omp for schedule(dynamic, 3)
      for (int i = 0; i < end; i++) row[i] = half * (float)i + odd + flag;
#pragma omp single
      {
        c[0] += 1;
        d[k] = c[0] + 2;
        total += k;
      }
#pragma omp for reduction(+ : total) collapse(2)
      for (int i = 0; i < end; i++)
        for (int j = 0; j < 2; j++) total += (long)row[i] * j;
#pragma omp master
      sums[k] = total;
#pragma omp barrier
    }
#pragma omp single nowait
    sums[m] = total;
  }
  double e0 = 0, *e = calloc(LARGE, sizeof *e);
  long t = 0;
  for (int k = 0; k < m; k++) {
    float half = scale / (float)(k + 1);
    short odd = (short)(k % 2 ? -3 : 5);
    for (int i = 0; i < list[k]; i++) e[k + i] = half * (float)i + odd + flag;
    e[0] += 1;
    e0 = e[0];
    CHECK(d[k] == e0 + 2);
    t += k;
    for (int i = 0; i < list[k]; i++) t += (long)e[k + i];
    CHECK(sums[k] == t);
  }
  CHECK(sums[m] == t && total == t);
  for (int i = 0; i < n; i++) CHECK(c[i] == e[i]);
  free(e);
}
static void written(int n) {
  // Once for each thread, and the same by each.
  static int order, most;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = n - i;
#pragma omp atomic write
    order = 7;
    double first = a[0];
#pragma omp for
    for (int i = 0; i < n; i++) b[i] = a[i] - first;
#pragma omp masked
    most = (int)first;
  }
  for (int i = 0; i < n; i++) CHECK(b[i] == -i);
  CHECK(order == 7 && most == n);
}
static void histogram(int n, int rounds) {
  // A reduction's array in a loop that runs several times.
  long bins[16] = {0};
#pragma omp parallel
  for (int k = 0; k < rounds; k++) {
#pragma omp for reduction(+ : bins)
    for (int i = 0; i < n; i++) bins[(i * 7 + k) % 16] += k + 1;
  }
  long plain[16] = {0};
  for (int k = 0; k < rounds; k++)
    for (int i = 0; i < n; i++) plain[(i * 7 + k) % 16] += k + 1;
  for (int i = 0; i < 16; i++) CHECK(bins[i] == plain[i]);
}
static void turns(int n, int rounds) {
  // Alternating buffers.
  for (int i = 0; i < n; i++) c[i] = i, d[i] = 0;
#pragma omp parallel
  {
    double *from = c, *to = d;
    for (int k = 0; k < rounds; k++) {
#pragma omp for
      for (int i = 0; i < n; i++) to[i] = from[n - 1 - i] + 1;
      double *t = from;
      from = to, to = t;
    }
  }
  for (int i = 0; i < n; i++) CHECK((rounds % 2 ? d : c)[i] == (rounds % 2 ? n - 1 - i : i) + rounds);
}
static void nothing(int n, int none) {
  double sum = 3;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < none; i++) sum += a[i];
    double twice = 2 * sum;
#pragma omp for
    for (int i = 0; i < n; i++) b[i] = twice;
  }
  CHECK(sum == 3);
  for (int i = 0; i < n; i++) CHECK(b[i] == 6);
}
int main(void) {
  for (int i = 0; i < N; i++) a[i] = i * 0.75;
  two(N);
  two(17);
  double rest, small;
  double sum = solve(N, 30, &rest), few = solve(40, 10, &small);
  CHECK(rest < 1e-12 && small < 1e-6);
  CHECK(fabs(sum - solve(N, 30, &rest)) <= 1e-12 * sum && few > 0);
  CHECK(solve(LARGE, 5, &rest) > 0 && rest < 1e4);
  int steps = until(100, 1e-3);
  CHECK(steps == plainly(100, 1e-3) && steps > 10);
  around(N, 5, 1.5f);
  written(N);
  histogram(1000, 4);
  turns(LARGE, 3);
  turns(N, 4);
  nothing(N, 0);
  return DONE();
}
