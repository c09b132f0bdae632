// exit inside of the guest's region, while another thread of it is in a region of the library.
// exit: 3
// stdout: at exit
#include "../check.h"
#include "neighbour.inc"
#include <unistd.h>

static int waiting, never;

void by_name(int number) {
  __atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n(&never, __ATOMIC_SEQ_CST))
    usleep(1000);
}

static void at_exit(void) { puts("at exit"); }

int main(void) {
  atexit(at_exit);
#pragma omp parallel num_threads(3)
  {
    if (omp_get_thread_num() == 1)
      native_by_name(2);
    if (omp_get_thread_num() == 2) {
      SPIN_UNTIL(__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) == 2);
      exit(3);
    }
  }
  return 1;
}
