// Results of reductions stay in host memory if one thread alone accesses them, and are mapped as ever if
// something else may: mapped before, reached through other items, used in the loop, or by two threads.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
enum { N = 4000 };
struct sums {
  long odd, even;
  double most;
};
static long global = 5;
int main(void) {
  static int x[N];
  for (int i = 0; i < N; i++)
    x[i] = i % 10;
#pragma omp target enter data map(to : x)
  // Alone, and several of different types. What they held before counts.
  for (int round = 1; round <= 3; round++) {
    long sum = 7;
    double most = -1, h[5] = {1, 2, 3, 4, 5};
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
      sum += x[i];
    CHECK(sum == 7 + N / 10 * 45);
#pragma omp target teams distribute parallel for map(tofrom : sum, most, h) reduction(+ : sum, h) \
    reduction(max : most)
    for (int i = 0; i < N; i++) {
      sum += round, h[i % 5]++;
      if (x[i] > most)
        most = x[i];
    }
    CHECK(sum == 7 + N / 10 * 45 + N * round && most == 9);
    for (int k = 0; k < 5; k++)
      CHECK(h[k] == k + 1 + N / 5);
  }
  // A variable of the device, and one that is mapped around its regions.
#pragma omp target teams distribute parallel for map(tofrom : global) reduction(+ : global)
  for (int i = 0; i < N; i++)
    global += x[i] & 1;
  CHECK(global == 5 + N / 2);
  long outer = 1;
#pragma omp target data map(tofrom : outer)
  {
    for (int round = 0; round < 2; round++) {
#pragma omp target teams distribute parallel for reduction(+ : outer)
      for (int i = 0; i < N; i++)
        outer++;
    }
    CHECK(outer == 1);
#pragma omp target update from(outer)
    CHECK(outer == 1 + 2 * N);
  }
  // The loop reads what it adds to elsewhere, through a second pointer.
  long both = 2, *also = &both, seen[4] = {0};
#pragma omp target teams distribute parallel for map(tofrom : both, seen) map(also[ : 1]) reduction(+ : both)
  for (int i = 0; i < N; i++) {
    if (i < 4)
      seen[i] = *also;
    both += 1;
  }
  CHECK(both == 2 + N);
  for (int k = 0; k < 4; k++)
    CHECK(seen[k] == 2);
  // Members of a structure.
  struct sums s = {1, 2, 3};
#pragma omp target map(tofrom : s)
  {
    long odd = 0, even = 0;
#pragma omp parallel for reduction(+ : odd, even)
    for (int i = 0; i < N; i++)
      *(x[i] & 1 ? &odd : &even) += 1;
    s.odd += odd, s.even += even;
  }
  CHECK(s.odd == 1 + N / 2 && s.even == 2 + N / 2 && s.most == 3);
  // Two threads that use one variable: the first one's mapping serves both.
  long shared = 0;
#pragma omp parallel num_threads(2)
  {
    long own = 0;
    for (int round = 0; round < 8; round++) {
#pragma omp target teams distribute parallel for reduction(+ : own)
      for (int i = 0; i < N; i++)
        own += x[i];
    }
    CHECK(own == 8L * (N / 10 * 45));
#pragma omp critical
    {
#pragma omp target teams distribute parallel for map(tofrom : shared) reduction(+ : shared)
      for (int i = 0; i < N; i++)
        shared += 1;
    }
  }
  CHECK(shared == 2 * N);
  // The host runs the region.
  long here = 3;
#pragma omp target teams distribute parallel for if (x[0]) reduction(+ : here)
  for (int i = 0; i < N; i++)
    here++;
  CHECK(here == 3 + N);
#pragma omp target exit data map(release : x)
  return DONE();
}
