// OpenMP 5.2, section 15.5: taskwait sees the children's effects, inside and outside of regions.
// stdout: ok
#include "../../check.h"
static long fib(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(void) {
  int v[1000];
#pragma omp taskwait
  CHECK(fib(12) == 144);
#pragma omp parallel
  {
#pragma omp single nowait
    CHECK(fib(16) == 987);
#pragma omp single nowait
    {
      for (int i = 0; i < 1000; i++) {
#pragma omp task firstprivate(i) shared(v)
        v[i] = i * i;
      }
#pragma omp taskwait
      for (int i = 0; i < 1000; i++) CHECK(v[i] == i * i);
    }
    CHECK(fib(9) == 34);
  }
  return DONE();
}
