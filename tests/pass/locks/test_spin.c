// OpenMP 5.2, section 18.9.6: threads that only use omp_test_lock get the lock in the end.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  omp_lock_t lock; long count = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 100; i++) {
    int got = 0;
    SPIN_UNTIL((got = omp_test_lock(&lock)));
    CHECK(got);
    if (got) { count++; omp_unset_lock(&lock); }
  }
  CHECK(count == 400);
  omp_destroy_lock(&lock);
  return DONE();
}
