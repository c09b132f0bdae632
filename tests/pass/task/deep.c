// OpenMP 5.2, section 12.5: nested tasks, each waiting for its child, as deep as a native program with the usual 8 MB
// of stack allows; created by the first thread and by another one, and executed by all threads and by one alone.
// stdout: ok
// levels: O0 O2
#include "../../check.h"

enum { DEPTH = 12000 };

static long down(int n) {
  long below = 0;
  if (n == 0) return 0;
#pragma omp task shared(below)
  below = down(n - 1);
#pragma omp taskwait
  return below + n;
}

int main(void) {
#pragma omp parallel
  {
#pragma omp master
    CHECK(down(DEPTH) == (long)DEPTH * (DEPTH + 1) / 2);
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
      CHECK(down(DEPTH) == (long)DEPTH * (DEPTH + 1) / 2);
  }
  // One thread executes all tasks: the other one reaches no scheduling point meanwhile.
  int done = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      CHECK(down(DEPTH) == (long)DEPTH * (DEPTH + 1) / 2);
#pragma omp atomic write
      done = 1;
    } else {
      int now = 0;
      while (!now) {
#pragma omp atomic read
        now = done;
      }
    }
  }
  return DONE();
}
