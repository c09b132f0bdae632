// _exit(11) by a worker thread: no handler runs and unflushed output is lost.
// levels: O0 O2
// exit: 11
// stdout: flushed
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void handler(void) { puts("handler"); }
int main(void) {
  atexit(handler);
  puts("flushed"), fflush(stdout);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) _exit(11);
  return 0;
}
