// exit in a function of the guest that a thread of the library's region called.
// exit: 4
// stdout: at exit
#include "../check.h"
#include "neighbour.inc"

static void at_exit(void) { puts("at exit"); }

void by_name(int number) {
  if (number == 1) {
#pragma omp critical
    exit(4);
  }
}

int main(void) {
  atexit(at_exit);
  int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
  threads++;
  CHECK(threads == 3);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1)
      native_by_name(3);
  }
  return 1;
}
