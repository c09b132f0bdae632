// OpenMP 5.2, sections 12.5.2 and 18.11: a detached task is complete when its routine has ended and any thread has fulfilled its event.
// flags: -fopenmp-version=52 -pthread
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <unistd.h>
static omp_event_handle_t handles[8];
static int ready, fulfilled;
static void *fulfil(void *unused) {
  SPIN_UNTIL(__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 8);
  usleep(20000);
  for (int i = 0; i < 8; i++) {
    __atomic_fetch_add(&fulfilled, 1, __ATOMIC_RELEASE);
    omp_fulfill_event(handles[i]);
  }
  return unused;
}
int main(void) {
  omp_event_handle_t event;
  for (int way = 0; way < 4; way++) {
    pthread_t other;
    ready = fulfilled = 0;
    pthread_create(&other, NULL, fulfil, NULL);
    if (way == 0) {
      // A team of one.
      for (int i = 0; i < 8; i++) {
#pragma omp task detach(event)
        {
          handles[i] = event;
          __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
        }
      }
#pragma omp taskwait
      CHECK(fulfilled == 8);
    } else {
#pragma omp parallel
      {
#pragma omp single nowait
        {
          int x = 0;
#pragma omp taskgroup
          {
            for (int i = 0; i < 8; i++) {
#pragma omp task detach(event) depend(in : x)
              {
                handles[i] = event;
                __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
              }
            }
#pragma omp task shared(x) depend(out : x)
            CHECK(fulfilled == 8);
            if (way == 1) {
#pragma omp taskwait
              CHECK(fulfilled == 8);
            }
          }
          CHECK(fulfilled == 8);
        }
        if (way == 2) {
#pragma omp barrier
          CHECK(fulfilled == 8);
        }
      }
      CHECK(fulfilled == 8);
    }
    pthread_join(other, NULL);
  }
  // Fulfilled inside the task itself, and by another task.
#pragma omp parallel
#pragma omp single
  {
#pragma omp task detach(event)
    omp_fulfill_event(event);
    omp_event_handle_t second;
#pragma omp task detach(second)
    {}
#pragma omp task firstprivate(second)
    omp_fulfill_event(second);
#pragma omp taskwait
  }
  return DONE();
}
