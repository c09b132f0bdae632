// OpenMP 5.2, section 10.1: a parallel region within one, on the device.
#include "../../check.h"
int main(void) {
  int sum = 0, inner = -1;
#pragma omp target parallel num_threads(4) map(tofrom : sum, inner)
  {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      sum++;
      if (omp_get_level() == 2) inner = omp_get_num_threads();
    }
  }
  CHECK(sum >= 1 && inner >= 1 && sum % inner == 0);
  return DONE();
}
