// OpenMP 5.2, section 18.9: a simple lock excludes; omp_test_lock fails while it is held.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  omp_lock_t lock; long count = 0;
  omp_init_lock(&lock);
  CHECK(omp_test_lock(&lock));
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() > 0) CHECK(!omp_test_lock(&lock));
  omp_unset_lock(&lock);
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 500; i++) {
    omp_set_lock(&lock);
    count++;
    omp_unset_lock(&lock);
  }
  CHECK(count == 2000);
  omp_destroy_lock(&lock);
  return DONE();
}
