// barrier (15.3): a thread that sleeps, or waits for input, is no deadlock, however long the others wait for it.
// env: OMP_NUM_THREADS=3
// options: --watchdog=.3
// stdout: ok
#define _GNU_SOURCE
#include "../../check.h"
#include <omp.h>
#include <unistd.h>

int main(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
#pragma omp parallel
  {
    if (omp_get_thread_num() == 1) sleep(1);
#pragma omp barrier
    if (omp_get_thread_num() == 2) {
      usleep(800000);
      CHECK(write(ends[1], "x", 1) == 1);
    }
    char c = 0;
    if (omp_get_thread_num() == 0) CHECK(read(ends[0], &c, 1) == 1 && c == 'x');
#pragma omp barrier
    if (omp_get_thread_num() == 0) usleep(800000);
  }
  DONE();
}
