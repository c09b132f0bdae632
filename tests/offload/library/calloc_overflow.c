// calloc in a region: zeroed memory, and null for sizes whose product overflows.
#include "../../check.h"
int main(void) {
  int zeros = 0, refused = 0;
  size_t huge = (size_t)1 << 33;
#pragma omp target map(tofrom : zeros, refused) map(to : huge)
  {
    int *p = calloc(10, sizeof *p);
    for (int i = 0; i < 10; i++) zeros += p[i] == 0;
    free(p);
    char *q = calloc(huge, huge >> 1);
    refused = q == 0;
    if (q) free(q);
  }
  CHECK(zeros == 10);
  CHECK(refused == 1);
  return DONE();
}
