// critical (15.2): two threads enter two critical sections in opposite order.
// env: OMP_NUM_THREADS=2
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: thread 0 waits in critical `b`, held by thread 1
// stderr-has: criticals_in_opposite_order.c:24
// stderr-has: thread 1 waits in critical `a`, held by thread 0
// stderr-has: criticals_in_opposite_order.c:31
#include <omp.h>
#include <stdio.h>

static void meet(void) {
  static int inside;
  __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) < 2) {}
}
int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 0) {
#pragma omp critical(a)
    {
      meet();
#pragma omp critical(b)
      puts("a and b");
    }
  } else {
#pragma omp critical(b)
    {
      meet();
#pragma omp critical(a)
      puts("b and a");
    }
  }
}
