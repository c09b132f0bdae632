// exit(7) by the primary thread inside a region: buffers are flushed and atexit handlers run.
// levels: O0 O2
// exit: 7
// stdout: work
// stdout: handler
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static void handler(void) { puts("handler"); }
int main(void) {
  atexit(handler);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    puts("work");
    exit(7);
  }
  puts("not reached");
}
