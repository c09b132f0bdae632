// OpenMP 5.2, section 18.9: a lock held over an inner serialized region and over regions of other threads.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  omp_lock_t lock; int order = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
  {
    omp_set_lock(&lock);
    int before = order;
#pragma omp parallel if (0)
    order++;
    CHECK(order == before + 1);
    omp_unset_lock(&lock);
  }
  CHECK(order == 3);
  omp_destroy_lock(&lock);
  return DONE();
}
