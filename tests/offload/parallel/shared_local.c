// OpenMP 5.2, section 5.1.2: a variable of the region's sequential part is shared by its parallel regions.
#include "../../check.h"
int main(void) {
  int result = 0;
#pragma omp target map(from : result)
  {
    int sum = 0, w[16];
    for (int i = 0; i < 16; i++) w[i] = i;
#pragma omp parallel for num_threads(16)
    for (int i = 0; i < 16; i++) {
      w[i] *= 2;
#pragma omp atomic
      sum += w[i];
    }
    result = sum + w[15];
  }
  CHECK(result == 240 + 30);
  return DONE();
}
