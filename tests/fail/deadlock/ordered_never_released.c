// ordered (15.10): the first iteration's ordered part waits for a lock of a thread that waits for its turn.
// env: OMP_NUM_THREADS=2
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: thread 0 waits for lock `guard`, held by thread 1
// stderr-has: ordered_never_released.c:20
// stderr-has: thread 1 waits in ordered for its turn
// stderr-has: ordered_never_released.c:28
#include <omp.h>
#include <stdio.h>

omp_lock_t guard;
static int held;
static void part(int i) {
  if (i == 1) {
    omp_unset_lock(&guard);
  } else {
    while (!__atomic_load_n(&held, __ATOMIC_SEQ_CST)) {}
    omp_set_lock(&guard), omp_unset_lock(&guard);
  }
}
int main(void) {
  omp_init_lock(&guard);
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 2; i++) {
    if (i == 1) omp_set_lock(&guard), __atomic_store_n(&held, 1, __ATOMIC_SEQ_CST);
#pragma omp ordered
    part(i);
  }
  puts("after");
}
