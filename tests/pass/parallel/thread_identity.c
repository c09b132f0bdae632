// OpenMP 5.2, section 1.3: the primary thread of a region is the encountering thread, thread 0.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <pthread.h>
int main(void) {
  pthread_t self = pthread_self();
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(3)
    CHECK((omp_get_thread_num() == 0) == !!pthread_equal(self, pthread_self()));
  }
  return DONE();
}
