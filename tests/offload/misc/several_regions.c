// Many regions of different shapes in one program, some of them called many times.
#include "../../check.h"
static int twice(int x) {
  int r = 0;
#pragma omp target map(from : r)
  r = 2 * x;
  return r;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 200; i++) s += twice(i);
  CHECK(s == 39800);
  for (int n = 1; n < 100; n += 13) {
    int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += i;
    CHECK(sum == n * (n - 1) / 2);
  }
  return DONE();
}
