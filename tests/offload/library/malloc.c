// malloc and free in a region.
#include "../../check.h"
int main(void) {
  int sum = 0;
#pragma omp target map(tofrom : sum)
  {
    int *p = malloc(10 * sizeof *p);
    for (int i = 0; i < 10; i++) p[i] = i;
    for (int i = 0; i < 10; i++) sum += p[i];
    free(p);
  }
  CHECK(sum == 45);
  return DONE();
}
