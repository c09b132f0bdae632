// OpenMP 5.2, section 18.9: locks on the device.
#include "../../check.h"
int main(void) {
  int n = 0, threads = 0;
  omp_lock_t lock;
#pragma omp target map(tofrom : n, threads) map(alloc : lock)
  {
    omp_init_lock(&lock);
#pragma omp parallel num_threads(20)
    {
      omp_set_lock(&lock);
      n = n + 1;
      omp_unset_lock(&lock);
      if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
    }
    omp_destroy_lock(&lock);
  }
  CHECK(n == threads);
  return DONE();
}
