// OpenMP 5.2, section 5.8.6: a zero-length section finds the mapped data; without a mapping the pointer does not change.
#include "../../check.h"
int main(void) {
  int n = 10, *p = malloc(n * sizeof *p), sum = 0, *q = p;
  for (int i = 0; i < n; i++) p[i] = i;
#pragma omp target data map(to : p[0 : n])
  {
#pragma omp target map(p[0 : 0]) map(tofrom : sum)
    for (int i = 0; i < n; i++) sum += p[i];
#pragma omp target map(tofrom : sum)
    sum += p[3];
  }
  CHECK(sum == 48);
  int same = 0;
#pragma omp target map(from : same) map(p[0 : 0]) is_device_ptr(q)
  same = p == q;
  CHECK(same);
  free(p);
  return DONE();
}
