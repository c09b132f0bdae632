// OpenMP 5.2, section 18.9.2: locks initialized with each hint behave as locks.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  omp_sync_hint_t hints[] = {omp_sync_hint_none, omp_sync_hint_uncontended, omp_sync_hint_contended, omp_sync_hint_nonspeculative, omp_sync_hint_speculative};
  for (int h = 0; h < 5; h++) {
    omp_lock_t lock; omp_nest_lock_t nest; long a = 0, b = 0;
    omp_init_lock_with_hint(&lock, hints[h]);
    omp_init_nest_lock_with_hint(&nest, hints[h]);
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 100; i++) {
      omp_set_lock(&lock), a++, omp_unset_lock(&lock);
      omp_set_nest_lock(&nest), omp_set_nest_lock(&nest), b++, omp_unset_nest_lock(&nest), omp_unset_nest_lock(&nest);
    }
    CHECK(a == 300 && b == 300);
    omp_destroy_lock(&lock), omp_destroy_nest_lock(&nest);
  }
  return DONE();
}
