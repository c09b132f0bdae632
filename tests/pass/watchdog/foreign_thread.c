// detach (12.5): a thread that OpenMP does not know may end a wait, so the wait is no deadlock.
// env: OMP_NUM_THREADS=2
// options: --watchdog=.3
// flags: -pthread
// stdout: ok
#include "../../check.h"
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

static omp_event_handle_t event;
static int ready;
static void *fulfill(void *unused) {
  SPIN_UNTIL(__atomic_load_n(&ready, __ATOMIC_SEQ_CST));
  usleep(1200000);
  omp_fulfill_event(event);
  return unused;
}
int main(void) {
  pthread_t other;
  CHECK(pthread_create(&other, 0, fulfill, 0) == 0);
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t own;
#pragma omp task detach(own)
    event = own, __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
#pragma omp taskwait
  }
  CHECK(pthread_join(other, 0) == 0);
  DONE();
}
