// Locks and critical sections are handed over to the thread that waits longest: a thread that releases one and acquires it
// again at once queues behind the waiters. OpenMP 5.2, 15.2 and 18.9, leaves the order open; the default locks of libomp have this one,
// and programs build barriers from it.
// levels: O0 O2
// env: OMP_NUM_THREADS=4
// stdout: ok
#include "../../check.h"
#include <omp.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROUNDS = 12 };
static omp_lock_t plain, hinted, tried;
static omp_nest_lock_t nested, nested_twice;

static void set_plain(void) { omp_set_lock(&plain); }
static void unset_plain(void) { omp_unset_lock(&plain); }
static void set_hinted(void) { omp_set_lock(&hinted); }
static void unset_hinted(void) { omp_unset_lock(&hinted); }
static void set_tried(void) {
  if (!omp_test_lock(&tried))
    omp_set_lock(&tried);
}
static void unset_tried(void) { omp_unset_lock(&tried); }
static void set_nested(void) { omp_set_nest_lock(&nested); }
static void unset_nested(void) { omp_unset_nest_lock(&nested); }
static void set_twice(void) {
  omp_set_nest_lock(&nested_twice);
  omp_set_nest_lock(&nested_twice);
}
static void unset_twice(void) {
  omp_unset_nest_lock(&nested_twice);
  omp_unset_nest_lock(&nested_twice);
}

/* The holder waits until the others have said that they are about to wait, and for some time that grows. A round that
 * a slow machine disturbs does not count; a lock that running threads may overtake would fail in nearly all rounds. */
static int rounds_in_order(void (*set)(void), void (*unset)(void)) {
  int good = 0;
  for (int round = 1; round <= ROUNDS; round++) {
    atomic_int coming = 0;
    int served = 0, before = -1;
#pragma omp parallel num_threads(3)
    {
      if (omp_get_thread_num() == 0)
        set();
#pragma omp barrier
      if (omp_get_thread_num() == 0) {
        SPIN_UNTIL(atomic_load(&coming) == 2);
        usleep(1000 * round);
        unset();
        set();
        before = served;
        unset();
      } else {
        atomic_fetch_add(&coming, 1);
        set();
        served++;
        unset();
      }
    }
    CHECK(served == 2);
    good += before == 2;
  }
  return good;
}

static int critical_rounds(void) {
  int good = 0;
  for (int round = 1; round <= ROUNDS; round++) {
    atomic_int coming = 0, held = 0;
    int served = 0, before = -1;
#pragma omp parallel num_threads(3)
    {
      if (omp_get_thread_num() == 0) {
        for (int again = 0; again < 2; again++) {
#pragma omp critical(handed)
          {
            atomic_store(&held, 1);
            SPIN_UNTIL(atomic_load(&coming) == 2);
            usleep(again ? 0 : 1000 * round);
            before = served;
          }
        }
      } else {
        SPIN_UNTIL(atomic_load(&held));
        atomic_fetch_add(&coming, 1);
#pragma omp critical(handed)
        served++;
      }
    }
    CHECK(served == 2);
    good += before == 2;
  }
  return good;
}

int main(void) {
  omp_init_lock(&plain);
  omp_init_lock_with_hint(&hinted, omp_sync_hint_contended);
  omp_init_lock(&tried);
  omp_init_nest_lock(&nested);
  omp_init_nest_lock(&nested_twice);
  CHECK(rounds_in_order(set_plain, unset_plain) > ROUNDS / 2);
  CHECK(rounds_in_order(set_hinted, unset_hinted) > ROUNDS / 2);
  CHECK(rounds_in_order(set_tried, unset_tried) > ROUNDS / 2);
  CHECK(rounds_in_order(set_nested, unset_nested) > ROUNDS / 2);
  CHECK(rounds_in_order(set_twice, unset_twice) > ROUNDS / 2);
  CHECK(critical_rounds() > ROUNDS / 2);
  omp_destroy_lock(&plain);
  omp_destroy_lock(&hinted);
  omp_destroy_lock(&tried);
  omp_destroy_nest_lock(&nested);
  omp_destroy_nest_lock(&nested_twice);
  return DONE();
}
