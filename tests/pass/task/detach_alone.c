// OpenMP 5.2, section 12.5.2: in a team of one, too, barriers and the region's end wait for tasks that are not complete.
// flags: -pthread
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
int main(void) {
  for (int way = 0; way < 3; way++) {
    pthread_t other;
    int after = 0, before = 0;
    ready = fulfilled = 0;
    pthread_create(&other, NULL, fulfil, NULL);
#pragma omp parallel num_threads(1) shared(after, before)
    {
      omp_event_handle_t event;
#pragma omp barrier
#pragma omp task detach(event) depend(out : after)
      {
        handle = event;
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
      }
#pragma omp task shared(after) depend(inout : after)
      {
        CHECK(fulfilled);
        after = 1;
      }
      before = after;
      if (way == 1) {
#pragma omp barrier
        CHECK(fulfilled && after);
      }
      if (way == 2) {
#pragma omp taskwait
        CHECK(fulfilled && after);
      }
    }
    CHECK(fulfilled && after && !before);
    pthread_join(other, NULL);
  }
  return DONE();
}
