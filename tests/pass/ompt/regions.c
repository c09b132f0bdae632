// OpenMP 5.2, sections 19.2, 19.5.2 and 19.5.3: a tool in the program gets the events of threads, regions, implicit tasks and their
// barrier; begin and end events match, on the same thread, for the same region and task, and workers report their ends at exit.
// stdout: ok
// stdout: ended
// levels: O0 O2
// env: OMP_NUM_THREADS=3
#include "tool.inc"

static void at_the_end(void) {
  CHECK(count(KIND(thread_begin), ompt_thread_initial, -1) == 1);
  CHECK(count(KIND(thread_begin), ompt_thread_worker, -1) == 2);
  CHECK(count(KIND(thread_end), -1, -1) == 3);
  CHECK(count(KIND(implicit_task), -1, BEGIN) == count(KIND(implicit_task), -1, END));
  int joins = 0;
  for (int i = 0; i < event_count; i++)
    if (events[i].kind == KIND(sync_region) && events[i].what == ompt_sync_region_barrier_implicit_parallel)
      joins += events[i].endpoint == BEGIN ? 1 : -1;
  CHECK(joins == 0);
  puts(check_failures ? "failed" : "ended");
  fflush(stdout);
}

int main(void) {
  uint64_t tasks[3] = {0};
#pragma omp parallel
  {
    ompt_data_t *task;
    int number = -1, flags;
    CHECK(get_task_info(0, &flags, &task, NULL, NULL, &number) == 2);
    CHECK(number == omp_get_thread_num() && (flags & ompt_task_implicit));
    tasks[number] = task->value;
  }
  int fork = find(0, KIND(parallel_begin), -1, -1);
  CHECK(fork >= 0);
  struct event *f = &events[fork];
  CHECK(f->number == 3 && (f->flags & ompt_parallel_team) && f->code && f->what);
  int starts = 0;
  for (int i = fork; i < event_count; i++) {
    struct event *e = &events[i];
    if (e->kind == KIND(implicit_task) && e->endpoint == BEGIN) {
      starts++;
      CHECK(e->region == f->region && e->number == 3 && e->other < 3 && e->task == tasks[e->other]);
      CHECK(e->flags == ompt_task_implicit);
    }
  }
  CHECK(starts == 3);
  int join = find(fork, KIND(parallel_end), -1, -1);
  CHECK(join > fork && events[join].region == f->region && events[join].task == f->task && events[join].code == f->code);
  int initial = find(0, KIND(implicit_task), -1, BEGIN);
  CHECK(initial >= 0 && events[initial].flags == ompt_task_initial && events[initial].task == f->task);

  // One thread, by the clause and by the condition.
  int from = event_count;
#pragma omp parallel num_threads(1)
  CHECK(count(KIND(parallel_begin), -1, -1) == 2);
#pragma omp parallel if (event_count < 0)
  CHECK(count(KIND(parallel_begin), -1, -1) == 3);
  CHECK(count(KIND(parallel_end), -1, -1) == 3);
  int one = find(from, KIND(implicit_task), -1, BEGIN);
  CHECK(one >= 0 && events[one].number == 1 && events[one].other == 0);
  CHECK(find(from, KIND(implicit_task), -1, END) > one);

  // Nested.
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(1)
#pragma omp parallel num_threads(2)
  {
    ompt_data_t *region, *outer;
    int size;
    CHECK(get_parallel_info(0, &region, &size) == 2 && size == 2);
    CHECK(get_parallel_info(1, &outer, &size) == 2 && size == 1 && outer != region);
    CHECK(get_parallel_info(2, &outer, &size) == 2 && size == 1);
    CHECK(get_parallel_info(3, &outer, &size) == 0);
  }
  return DONE();
}
