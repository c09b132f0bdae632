// OpenMP 5.2, sections 12.9 and 18.11: two threads that wait in tied tasks both continue, if one makes the other's awaited task ready after creating a task itself.
// flags: -fopenmp-version=52
// levels: O0 O2
// native: the threads wait for each other: what was made ready lies above the other's own task
// stdout: ok
#include "../../check.h"
static omp_event_handle_t outside;
static int have_outside, ran_outside, ran_inside, waiting;
static void reset(void) { have_outside = ran_outside = ran_inside = waiting = 0; }
#define SET(x) __atomic_store_n(&(x), 1, __ATOMIC_RELEASE)
#define GET(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)

// Two tasks wait, each on a thread; the task that one waits for is suspended below a task that the other made ready.
static void crossed(void) {
  reset();
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    {
      omp_event_handle_t event;
      int x = 0;
#pragma omp task detach(event) depend(out : x)
      {
        outside = event;
        SET(have_outside);
      }
#pragma omp task depend(in : x)
      SET(ran_outside);
      SET(waiting);
#pragma omp taskwait
      CHECK(GET(ran_outside));
    }
#pragma omp task
    {
      SPIN_UNTIL(GET(have_outside));
#pragma omp task
      SET(ran_inside);
      omp_fulfill_event(outside);
#pragma omp taskwait
      CHECK(GET(ran_inside));
    }
  }
}

int main(void) {
  omp_set_dynamic(0);
  for (int round = 0; round < 50; round++)
    crossed();
  return DONE();
}
