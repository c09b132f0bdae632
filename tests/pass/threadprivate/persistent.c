// OpenMP 5.2, section 5.2: threadprivate values persist from region to region of the same team size.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int counter = 10;
static double table[3] = {1, 2, 3};
#pragma omp threadprivate(counter, table)
int main(void) {
  omp_set_dynamic(0);
  for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(4)
    {
      int me = omp_get_thread_num();
      CHECK(counter == 10 + round * (me + 1) && table[1] == 2 + round);
      counter += me + 1;
      table[1] += 1;
    }
  }
  CHECK(counter == 15 && table[1] == 7 && table[0] == 1);
  return DONE();
}
