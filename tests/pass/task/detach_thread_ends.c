// OpenMP 5.2, sections 1.2 and 12.5.2: a thread created by the program ends when its tasks outside of all regions are complete, and so does main.
// flags: -fopenmp-version=52 -pthread
// levels: O0 O2
// stdout: task
// stdout: joined
// stdout: ok
// stdout: task
#include "../../check.h"
#include <pthread.h>
#include <unistd.h>
static omp_event_handle_t handle;
static int have;
static void leave_tasks(void) {
  omp_event_handle_t event;
  static int x;
#pragma omp task detach(event) depend(out : x)
  {
    handle = event;
    __atomic_store_n(&have, 1, __ATOMIC_RELEASE);
  }
#pragma omp task depend(in : x)
  {
    puts("task");
    fflush(stdout);
  }
}
static void *leave(void *unused) {
  leave_tasks();
  return unused;
}
static void *fulfil(void *unused) {
  SPIN_UNTIL(__atomic_load_n(&have, __ATOMIC_ACQUIRE));
  usleep(20000);
  omp_fulfill_event(handle);
  return unused;
}
int main(void) {
  pthread_t one, two, last;
  pthread_create(&one, NULL, leave, NULL);
  pthread_create(&two, NULL, fulfil, NULL);
  pthread_join(one, NULL);
  puts("joined");
  pthread_join(two, NULL);
  have = 0;
  leave_tasks();
  pthread_create(&last, NULL, fulfil, NULL);
  int failed = DONE();
  fflush(stdout);
  return failed;
}
