// OpenMP 5.2, section 5.4.2: shared variables are one object; writes are visible after the region's implicit barrier.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int slots[4] = {0}, *addresses[4];
#pragma omp parallel num_threads(4) shared(slots, addresses) default(none)
  {
    int me = omp_get_thread_num();
    slots[me] = 10 + me;
    addresses[me] = slots;
  }
  for (int i = 0; i < 4; i++) CHECK(slots[i] == 10 + i && addresses[i] == slots);
  return DONE();
}
