// The guest's SIGFPE handler for a division by zero on a worker thread.
// levels: O0 O2
// exit: 34
#include <omp.h>
#include <signal.h>
#include <unistd.h>
volatile int zero, result;
static void handler(int number) { _exit(number == SIGFPE ? 34 : 1); }
int main(void) {
  signal(SIGFPE, handler);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) result = 7 / zero;
  return 0;
}
