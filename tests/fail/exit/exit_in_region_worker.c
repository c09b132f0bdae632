// exit(9) by a worker thread while the primary thread waits at the end of the region.
// levels: O0 O2
// exit: 9
// stdout: handler
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static void handler(void) { puts("handler"); }
int main(void) {
  atexit(handler);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) exit(9);
  puts("not reached");
}
