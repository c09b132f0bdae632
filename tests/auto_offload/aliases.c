// Functions and variables that a region accesses by an alias.
#include "../check.h"
enum { N = 5000 };
static double table[N];
extern double other_table[N] __attribute__((alias("table")));
double twice(double x) { return 2 * x; }
extern double also_twice(double x) __attribute__((alias("twice")));
extern double weakly_twice(double x) __attribute__((weak, alias("twice")));
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) other_table[i] = also_twice(i);
#pragma omp parallel for
  for (int i = 0; i < N; i++) table[i] += weakly_twice(i);
  CHECK(table[3] == 12 && other_table[N - 1] == 4.0 * (N - 1));
  return DONE();
}
