// OpenMP 5.2, sections 5.5.8 and 7.8: a reduction's variable stays on the device between regions.
#include "../../check.h"
double total;
#pragma omp declare target(total)
int main(void) {
  double part = 0;
#pragma omp target
  total = 5;
  for (int k = 1; k <= 3; k++) {
#pragma omp target teams distribute parallel for reduction(+ : total)
    for (int i = 0; i < 100; i++) total += k;
  }
  CHECK(total == 0);
#pragma omp target update from(total)
  CHECK(total == 605);
#pragma omp target data map(to : part)
  {
    for (int k = 0; k < 2; k++) {
#pragma omp target teams distribute parallel for reduction(+ : part)
      for (int i = 0; i < 10; i++) part += i;
    }
    CHECK(part == 0);
#pragma omp target update from(part)
  }
  CHECK(part == 90);
  return DONE();
}
