// OpenMP 5.2, sections 11.5 and 10.1: several loops in one region, as kernels one after the other, and regions with an
// `if` clause, on a device without `target`.
// flags: -g
#include "../check.h"
#include <math.h>
enum { N = 3000 };
static double a[N], b[N], c[N];
static void three(int n, const double *x, double *y) {
  // Each loop uses results of other threads in the previous loop.
#pragma omp parallel
  {
    double half = 0.5;
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = x[i] * half;
#pragma omp for schedule(dynamic, 7)
    for (int i = 0; i < n; i++) b[i] = a[n - 1 - i] + 1;
#pragma omp for schedule(static, 3)
    for (int i = 0; i < n; i++) y[i] = b[(i + 1) % n] * half;
  }
  for (int i = 0; i < n; i++) CHECK(y[i] == (x[n - 1 - (i + 1) % n] * 0.5 + 1) * 0.5);
}
static void apart(int n, int m) {
  // Without a barrier between them, of different lengths, one of them possibly empty.
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; i++) a[i] = 3 * i;
#pragma omp for collapse(2) nowait
    for (int i = 0; i < m; i++)
      for (int k = 0; k < 10; k++) b[10 * i + k] = i - k;
#pragma omp for nowait
    for (long i = n; i > 0; i -= 2) c[i] = (double)-i;
  }
  for (int i = 0; i < n; i++) CHECK(a[i] == 3 * i);
  for (int i = 0; i < m; i++)
    for (int k = 0; k < 10; k++) CHECK(b[10 * i + k] == i - k);
  for (long i = n; i > 0; i -= 2) CHECK(c[i] == -i);
}
static void chosen(int n, int which) {
#pragma omp parallel
  {
    if (which) {
#pragma omp for
      for (int i = 0; i < n; i++) a[i] = i;
    } else {
#pragma omp for
      for (int i = 0; i < n; i++) a[i] = -i;
    }
#pragma omp for
    for (int i = 0; i < n; i++) {
      // Private to each iteration, in both loops.
      double part[4] = {a[i], 1, 2, 3};
      b[i] = part[i % 4] + a[n - 1 - i];
    }
  }
  int s = which ? 1 : -1;
  for (int i = 0; i < n; i++) CHECK(b[i] == (i % 4 ? i % 4 : s * i) + s * (n - 1 - i));
}
static double conditional(int n, int many) {
  double sum = 0;
#pragma omp parallel for if (n > many) reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += i;
#pragma omp parallel for if (n > many)
  for (int i = 0; i < n; i++) c[i] = sqrt(i);
  for (int i = 0; i < n; i++) CHECK(fabs(c[i] - sqrt(i)) <= 1e-12 * i);
  return sum;
}
int main(void) {
  double *x = malloc(sizeof(double) * N), *y = malloc(sizeof(double) * N);
  for (int i = 0; i < N; i++) x[i] = i * 1.25;
  three(N, x, y);
  three(17, x, y);
  apart(1000, 200);
  apart(999, 0);
  apart(1, 300);
  chosen(N, 0);
  chosen(N, 1);
  CHECK(conditional(N, 100) == N * (N - 1) / 2);
  CHECK(conditional(50, 100) == 50 * 49 / 2);
  free(x), free(y);
  return DONE();
}
