// OpenMP 5.2, section 18.9: a nestable lock counts its owner's holds, and omp_test_nest_lock returns the count.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  omp_nest_lock_t lock; long count = 0;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 100; i++) {
    omp_set_nest_lock(&lock);
    CHECK(omp_test_nest_lock(&lock) == 2);
    omp_set_nest_lock(&lock);
    CHECK(omp_test_nest_lock(&lock) == 4);
    count++;
    for (int k = 0; k < 4; k++) omp_unset_nest_lock(&lock);
  }
  CHECK(count == 400 && omp_test_nest_lock(&lock) == 1);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) CHECK(omp_test_nest_lock(&lock) == 0);
  omp_unset_nest_lock(&lock);
  omp_destroy_nest_lock(&lock);
  return DONE();
}
