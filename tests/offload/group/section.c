// Several devices as one: sections that begin in the middle of an array, so that an argument is an address before its
// memory, where other memory may lie.
// options: --device=emulated:4 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
#include <stdlib.h>
enum { ALL = 10000, N = 130, OTHER = 6144 };
#pragma omp begin declare target
long counter;
double vector[OTHER];
#pragma omp end declare target
int main(void) {
  int wrong = 0;
  double *a = malloc(ALL * sizeof(double));
  for (long lo = 0; lo < 9000; lo += 200) {
    for (long i = 0; i < ALL; i++)
      a[i] = i;
#pragma omp target teams distribute parallel for map(tofrom : a[lo : N])
    for (long i = lo; i < lo + N; i++)
      a[i] += 1 + vector[i % OTHER];
    for (long i = 0; i < ALL; i++)
      wrong += a[i] != i + (i >= lo && i < lo + N);
  }
  CHECK(wrong == 0);
  for (long lo = 0; lo < 9000; lo += 200) {
    for (long i = 0; i < ALL; i++)
      a[i] = i + 1;
    double sum = 0;
#pragma omp target teams distribute parallel for map(to : a[lo : N]) reduction(+ : sum) map(tofrom : sum)
    for (long i = lo; i < lo + N; i++) {
#pragma omp atomic
      counter += 1;
      sum += a[i];
    }
    wrong += sum != N * (lo + 1.0) + N * (N - 1) / 2;
  }
#pragma omp target update from(counter)
  CHECK(wrong == 0 && counter == 45 * N);
  // Large sections, of which each device may get a copy.
  long *b = malloc(ALL * sizeof(long));
  static long out[ALL];
  for (long lo = 0; lo < 5000; lo += 1000) {
    for (long i = 0; i < ALL; i++)
      b[i] = i * 3;
#pragma omp target data map(to : b[lo : 5000])
    {
#pragma omp target teams distribute parallel for map(to : b[lo : 5000]) map(from : out[ : 5000])
      for (int i = 0; i < 5000; i++)
        out[i] = b[lo + b[lo + i] % 5000];
#pragma omp target teams distribute parallel for map(to : b[lo : 5000])
      for (int i = 0; i < 5000; i++)
        b[lo + i] = i;
#pragma omp target teams distribute parallel for map(to : b[lo : 5000]) map(tofrom : out[ : 5000])
      for (int i = 0; i < 5000; i++)
        out[i] += b[lo + (b[lo + i] + 7) % 5000];
    }
    for (long i = 0; i < 5000; i++)
      wrong += out[i] != (lo + (lo + i) * 3 % 5000) * 3 + (i + 7) % 5000;
  }
  CHECK(wrong == 0);
  return DONE();
}
