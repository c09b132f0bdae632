// OpenMP 5.2, section 12.5: tasks and taskloop within a region.
#include "../../check.h"
int main(void) {
  int sum = 0, v[20] = {0};
#pragma omp target map(tofrom : sum, v)
  {
#pragma omp task shared(sum)
    sum += 1;
#pragma omp taskwait
#pragma omp task shared(sum) if (0)
    sum += 10;
#pragma omp taskloop shared(v)
    for (int i = 0; i < 20; i++) v[i] = i;
  }
  CHECK(sum == 11);
  for (int i = 0; i < 20; i++) CHECK(v[i] == i);
  return DONE();
}
