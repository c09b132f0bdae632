// OpenMP 5.2, sections 11.1 and 5.7.2: one thread of a team executes the block, the others receive the value that it read.
// optional
#include "../../check.h"
int main(void) {
  int all = 1, once = 0;
#pragma omp target map(tofrom : all, once)
#pragma omp parallel num_threads(32)
  {
    int mine = -1;
#pragma omp single copyprivate(mine)
    {
      mine = 42;
#pragma omp atomic
      once++;
    }
#pragma omp atomic
    all &= mine == 42;
  }
  CHECK(all == 1 && once == 1);
  return DONE();
}
