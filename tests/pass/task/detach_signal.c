// OpenMP 5.2, sections 12.5.2 and 18.11: a signal handler that interrupts a waiting member fulfills the event that the region waits for.
// flags: -fopenmp-version=52 -pthread
// levels: O0 O2
// env: OMP_WAIT_POLICY=passive OMP_NUM_THREADS=3
// native: waits for ever now and then
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static omp_event_handle_t event;
static pthread_t members[3];
static int have_event, here, ran;
#define GET(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)

static void handler(int number) { omp_fulfill_event(event); }

// Signals a member once all members are likely to wait.
static void *signals(void *member) {
  SPIN_UNTIL(GET(have_event) && GET(here) == 3);
  usleep(5000);
  pthread_kill(members[(long)member], SIGUSR1);
  return 0;
}

static void region(long member, int successor) {
  pthread_t thread;
  have_event = here = ran = 0;
  pthread_create(&thread, 0, signals, (void *)member);
#pragma omp parallel
  {
    int x;
    members[omp_get_thread_num()] = pthread_self();
    __atomic_fetch_add(&here, 1, __ATOMIC_RELEASE);
#pragma omp master
    {
#pragma omp task detach(event) depend(out : x)
      __atomic_store_n(&have_event, 1, __ATOMIC_RELEASE);
      if (successor) {
#pragma omp task depend(in : x)
        __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
      }
    }
  }
  pthread_join(thread, 0);
  CHECK(ran == successor);
}

int main(void) {
  signal(SIGUSR1, handler);
  for (int i = 0; i < 8; i++)
    for (int member = 0; member < 3; member++)
      region(member, i & 1);
  DONE();
}
