// OpenMP 5.2, section 5.8.3: map(alloc) and map(release) copy nothing.
#include "../../check.h"
int main(void) {
  int v[8];
  for (int i = 0; i < 8; i++) v[i] = i;
#pragma omp target data map(alloc : v)
  {
#pragma omp target map(alloc : v)
    for (int i = 0; i < 8; i++) v[i] = 100 + i;
    for (int i = 0; i < 8; i++) CHECK(v[i] == i);
    int sum = 0;
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < 8; i++) sum += v[i];
    CHECK(sum == 828);
  }
  for (int i = 0; i < 8; i++) CHECK(v[i] == i);
  return DONE();
}
