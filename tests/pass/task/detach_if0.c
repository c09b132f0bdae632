// OpenMP 5.2, sections 12.5 and 12.5.2: an undeferred task's construct ends with its block; barriers and taskwait wait for its event.
// flags: -fopenmp-version=52 -pthread
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <unistd.h>
static omp_event_handle_t handle;
static int ready, fulfilled;
static void *fulfil(void *unused) {
  SPIN_UNTIL(__atomic_load_n(&ready, __ATOMIC_ACQUIRE));
  usleep(20000);
  __atomic_store_n(&fulfilled, 1, __ATOMIC_RELEASE);
  omp_fulfill_event(handle);
  return unused;
}
// The thread that generated the task fulfills its event.
static void itself(int threads) {
  int after = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task if (0) detach(event)
    handle = event;
    omp_fulfill_event(handle);
#pragma omp taskwait
    after = 1;
  }
  CHECK(after);
}
// Another thread does; the region's end, a barrier or a taskwait waits for it.
static void another(int threads, int way) {
  pthread_t other;
  ready = fulfilled = 0;
  pthread_create(&other, NULL, fulfil, NULL);
#pragma omp parallel num_threads(threads)
  {
#pragma omp single nowait
    {
      omp_event_handle_t event;
#pragma omp task if (0) detach(event)
      {
        handle = event;
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
      }
      if (way == 2) {
#pragma omp taskwait
        CHECK(__atomic_load_n(&fulfilled, __ATOMIC_ACQUIRE));
      }
    }
    if (way == 1) {
#pragma omp barrier
      CHECK(__atomic_load_n(&fulfilled, __ATOMIC_ACQUIRE));
    }
  }
  CHECK(fulfilled);
  pthread_join(other, NULL);
}
int main(void) {
  for (int threads = 1; threads <= 4; threads *= 2) {
    itself(threads);
    for (int way = 0; way < 3; way++)
      another(threads, way);
  }
  return DONE();
}
