// OpenMP 5.2, section 7.8: declare target link: on the device while it is mapped.
#include "../../check.h"
int big[100];
#pragma omp declare target link(big)
int main(void) {
  for (int i = 0; i < 100; i++) big[i] = i;
  int sum = 0;
#pragma omp target map(to : big) map(tofrom : sum)
  for (int i = 0; i < 100; i++) sum += big[i];
  CHECK(sum == 4950);
#pragma omp target data map(tofrom : big)
  {
#pragma omp target
    for (int i = 0; i < 100; i++) big[i]++;
  }
  for (int i = 0; i < 100; i++) CHECK(big[i] == i + 1);
  return DONE();
}
