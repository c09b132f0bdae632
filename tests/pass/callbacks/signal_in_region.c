// A guest signal handler that runs on a thread inside a region and returns to it.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <signal.h>
static volatile sig_atomic_t handled;
static void handler(int number) { handled += number == SIGUSR1; }
int main(void) {
  signal(SIGUSR1, handler);
#pragma omp parallel num_threads(3)
  {
    int keep = omp_get_thread_num() * 3;
#pragma omp critical
    raise(SIGUSR1);
    CHECK(keep == omp_get_thread_num() * 3);
  }
  CHECK(handled == 3);
  return DONE();
}
