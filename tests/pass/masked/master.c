// OpenMP 5.2, section 10.5: master runs in thread 0 alone and has no barrier of its own.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int count = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 50; i++) {
#pragma omp master
    {
      CHECK(omp_get_thread_num() == 0);
      count++;
    }
  }
#pragma omp master
  count++;
  CHECK(count == 51);
  return DONE();
}
