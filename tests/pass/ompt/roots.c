// OpenMP 5.2, sections 19.5.2.1 and 19.5.3.2: a thread of the program is reported at its first call of the runtime, as by libomp,
// in any order: here first one that is not the program's initial thread; each has its own initial task.
// stdout: ok
// levels: O0 O2
#include "tool.inc"
#include <pthread.h>
static void at_the_end(void) {}

static void *root(void *unused) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  sum++;
  CHECK(sum == 2);
  return unused;
}

int main(void) {
  CHECK(event_count == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, root, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(count(KIND(thread_begin), ompt_thread_initial, -1) == 1 && count(KIND(thread_begin), ompt_thread_worker, -1) == 1);
  int first = find(0, KIND(implicit_task), -1, BEGIN), fork = find(0, KIND(parallel_begin), -1, -1);
  CHECK(first >= 0 && fork > first && events[first].flags == ompt_task_initial && events[fork].task == events[first].task);
  int from = event_count;
  root(NULL);
  CHECK(count(KIND(thread_begin), ompt_thread_initial, -1) == 2);
  int second = find(from, KIND(implicit_task), -1, BEGIN);
  CHECK(second >= 0 && events[second].flags == ompt_task_initial && events[second].task != events[first].task);
  return DONE();
}
