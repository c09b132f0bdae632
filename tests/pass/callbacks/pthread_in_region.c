// Threads of a team that create pthreads, which call the OpenMP routines, and join them.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <pthread.h>
static void *body(void *arg) {
  CHECK(omp_get_thread_num() == 0 && !omp_in_parallel());
  *(int *)arg += 1;
  return 0;
}
int main(void) {
  int cells[3] = {10, 20, 30};
#pragma omp parallel num_threads(3)
  {
    pthread_t t;
    int me = omp_get_thread_num();
    pthread_create(&t, 0, body, &cells[me]);
    pthread_join(t, 0);
    CHECK(cells[me] == 10 * (me + 1) + 1 && omp_get_thread_num() == me);
  }
  return DONE();
}
