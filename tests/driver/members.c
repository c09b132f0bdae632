/* Regions whose results tell whether a device that failed has lost or repeated a part of their work.
 * The argument selects them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 200000

static long check(const char *name, const double *x, double factor, double more) {
  for (long i = 0; i < N; i++)
    if (x[i] != factor * i + more) {
      printf("wrong: %s[%ld] is %g\n", name, i, x[i]);
      exit(1);
    }
  return N;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "region";
  double *x = malloc(sizeof(double) * N), *y = malloc(sizeof(double) * N);
  for (long i = 0; i < N; i++)
    x[i] = i, y[i] = 0;
  double sum = 0;
  if (!strcmp(mode, "region")) {
    /* Arrays of regions alone. */
    for (int step = 0; step < 2; step++) {
#pragma omp target teams distribute parallel for map(tofrom : x[ : N]) map(from : y[ : N])
      for (long i = 0; i < N; i++) {
        x[i] += 1;
        y[i] = 2 * x[i];
      }
    }
    check("x", x, 1, 2);
    check("y", y, 2, 4);
  } else if (!strcmp(mode, "long")) {
    /* A region that its device, which fails, still executes when the program ends. */
#pragma omp target teams distribute parallel for map(tofrom : x[ : N]) map(from : y[ : N])
    for (long i = 0; i < N; i++) {
      int steps = omp_is_initial_device() ? 1 : 500;
      for (int step = 0; step < steps; step++)
        x[i] = x[i] * 3 - 2 * i;
      y[i] = 2 * x[i];
    }
    check("x", x, 1, 0);
    check("y", y, 2, 0);
  } else if (!strcmp(mode, "sum")) {
    /* A reduction, whose result alone comes back. */
#pragma omp target teams distribute parallel for map(to : x[ : N]) reduction(+ : sum)
    for (long i = 0; i < N; i++)
      sum += x[i];
    check("x", x, 1, 0);
    if (sum != (double)N * (N - 1) / 2)
      printf("wrong: the sum is %g\n", sum), exit(1);
  } else {
    /* Arrays that stay on the device, changed by one region or by two. */
    int steps = !strcmp(mode, "resident") ? 1 : 2;
#pragma omp target enter data map(to : x[ : N]) map(alloc : y[ : N])
    for (int step = 0; step < steps; step++) {
#pragma omp target teams distribute parallel for
      for (long i = 0; i < N; i++)
        x[i] += 1;
    }
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (long i = 0; i < N; i++) {
      y[i] = 2 * x[i];
      sum += x[i];
    }
#pragma omp target exit data map(from : x[ : N], y[ : N])
    check("x", x, 1, steps);
    check("y", y, 2, 2 * steps);
    if (sum != (double)N * (N - 1) / 2 + (double)N * steps)
      printf("wrong: the sum is %g\n", sum), exit(1);
  }
  puts("right");
  free(x), free(y);
  return 0;
}
