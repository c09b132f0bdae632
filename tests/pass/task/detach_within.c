// OpenMP 5.2, sections 12.9 and 18.11: a task that an event makes ready may be executed by any eligible thread, wherever the event was fulfilled, and does not keep the fulfilling thread from its own tasks.
// flags: -fopenmp-version=52 -pthread
// levels: O0 O2
// env: OMP_WAIT_POLICY=passive
// native: fails an assertion of its own, or now and then waits for ever
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <unistd.h>
static omp_event_handle_t outside, inside, last;
static int have_outside, have_inside, have_last, ran_outside, ran_inside, waiting;
static void reset(void) { have_outside = have_inside = have_last = ran_outside = ran_inside = waiting = 0; }
#define SET(x) __atomic_store_n(&(x), 1, __ATOMIC_RELEASE)
#define GET(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)

// A task with children fulfills an event whose successor is not among them.
static void siblings(int threads) {
  reset();
#pragma omp parallel num_threads(threads)
#pragma omp single
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
#pragma omp task
    {
      int y = 0;
      omp_event_handle_t own;
      SPIN_UNTIL(GET(have_outside));
#pragma omp task detach(own) depend(out : y)
      {
        inside = own;
        SET(have_inside);
      }
#pragma omp task depend(in : y)
      SET(ran_inside);
      while (!GET(have_inside)) {
#pragma omp taskyield
      }
      omp_fulfill_event(inside);
      omp_fulfill_event(outside);
#pragma omp taskwait
      CHECK(GET(ran_inside));
    }
#pragma omp taskwait
    CHECK(GET(ran_outside));
  }
}

static void *fulfil_two(void *unused) {
  SPIN_UNTIL(GET(have_outside) && GET(have_inside));
  usleep(5000);
  omp_fulfill_event(outside);
  omp_fulfill_event(inside);
  return unused;
}

// A foreign thread makes two tasks ready, one after the other; the first waits for the second.
static void two_at_once(void) {
  pthread_t other;
  reset();
  pthread_create(&other, NULL, fulfil_two, NULL);
#pragma omp parallel num_threads(2)
#pragma omp single nowait
  {
    omp_event_handle_t event;
    static int x, y;
#pragma omp task detach(event) depend(out : x)
    {
      outside = event;
      SET(have_outside);
    }
#pragma omp task detach(event) depend(out : y)
    {
      inside = event;
      SET(have_inside);
    }
#pragma omp task depend(in : x)
    {
      omp_event_handle_t mine;
#pragma omp task detach(mine)
      {
        last = mine;
        SET(have_last);
      }
#pragma omp taskwait
      CHECK(GET(ran_inside));
    }
#pragma omp task depend(in : y)
    {
      while (!GET(have_last)) {
#pragma omp taskyield
      }
      SET(ran_inside);
      omp_fulfill_event(last);
    }
  }
  pthread_join(other, NULL);
}

static void *fulfil_one(void *unused) {
  SPIN_UNTIL(GET(have_outside) && GET(have_last));
  usleep(5000);
  omp_fulfill_event(outside);
  return unused;
}

// A tied task waits within an untied one for an event that another of its children fulfills.
static void below_untied(void) {
  pthread_t other;
  reset();
  pthread_create(&other, NULL, fulfil_one, NULL);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    // Busy, so that no other thread takes the task.
    SPIN_UNTIL(GET(ran_outside));
    CHECK(GET(ran_outside));
  } else {
#pragma omp task if (0)
    {
      omp_event_handle_t event;
      int x = 0;
#pragma omp task detach(event) depend(out : x)
      {
        outside = event;
        SET(have_outside);
      }
#pragma omp task depend(in : x)
      {
        SET(ran_outside);
        omp_fulfill_event(last);
      }
#pragma omp task untied if (0)
      {
        omp_event_handle_t own;
#pragma omp task detach(own)
        {
          last = own;
          SET(have_last);
        }
#pragma omp taskwait
        CHECK(GET(ran_outside));
      }
#pragma omp taskwait
    }
  }
  pthread_join(other, NULL);
}

int main(void) {
  omp_set_dynamic(0);
  int only = getenv("ONLY") ? atoi(getenv("ONLY")) : 15;
  for (int round = 0; round < 20; round++) {
    if (only & 1)
      for (int threads = 1; threads <= 4; threads++)
        siblings(threads);
    if (only & 4)
      two_at_once();
    if (only & 8)
      below_untied();
  }
  return DONE();
}
