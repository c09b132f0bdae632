// OpenMP 5.2, sections 19.5.2.7 to 19.5.2.11: tasks are created, begun, suspended and completed; dependences; taskwait, taskgroup,
// taskloop, detach, undeferred tasks; a task may be queried from within (19.6.2).
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2
#include "tool.inc"
static void at_the_end(void) {}

static int of_task(int kind, uint64_t task, int endpoint) {
  int found = 0;
  for (int i = 0; i < event_count; i++)
    found += events[i].kind == kind && events[i].task == task && (endpoint < 0 || events[i].endpoint == endpoint);
  return found;
}

int main(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 10; i++)
#pragma omp task shared(done)
    {
      ompt_data_t *task;
      ompt_frame_t *frame;
      int flags, number;
      CHECK(get_task_info(0, &flags, &task, &frame, NULL, &number) == 2);
      CHECK((flags & ompt_task_explicit) && frame->exit_frame.ptr && number == omp_get_thread_num());
      CHECK(get_task_info(1, &flags, &task, NULL, NULL, NULL) == 2 && (flags & (ompt_task_implicit | ompt_task_explicit)));
      void *address;
      size_t size = 0;
      CHECK(get_task_memory(&address, &size, 0) == 0 && size > 0);
#pragma omp atomic
      done++;
    }
#pragma omp taskwait
  }
  CHECK(done == 10 && count(KIND(task_create), -1, -1) == 10);
  int made = 0;
  for (int i = 0; i < event_count; i++)
    if (events[i].kind == KIND(task_create)) {
      made++;
      CHECK((events[i].flags & ompt_task_explicit) && events[i].code && !events[i].number && events[i].what);
      CHECK(of_task(KIND(task_schedule), events[i].other, ompt_task_complete) == 1);
      int begun = 0;
      for (int k = i; k < event_count; k++)
        begun += events[k].kind == KIND(task_schedule) && events[k].other == events[i].other && events[k].endpoint == ompt_task_switch;
      CHECK(begun == 1);
    }
  CHECK(made == 10);
  CHECK(count(KIND(sync_region), ompt_sync_region_taskwait, BEGIN) == 1);
  CHECK(count(KIND(sync_region_wait), ompt_sync_region_taskwait, END) == 1);

  // An undeferred task, by the encountering thread.
  int from = event_count;
#pragma omp parallel num_threads(2)
#pragma omp masked
#pragma omp task if (from < 0)
  done++;
  int create = find(from, KIND(task_create), -1, -1);
  CHECK(create >= 0 && (events[create].flags & ompt_task_undeferred));
  CHECK(of_task(KIND(task_schedule), events[create].other, ompt_task_complete) == 1);

  // In dependences, the second waits for the first.
  from = event_count;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int x = 0, go = 0;
#pragma omp task depend(out : x) shared(x, go)
    {
      SPIN_UNTIL(__atomic_load_n(&go, __ATOMIC_SEQ_CST));
      x = 1;
    }
#pragma omp task depend(in : x) shared(x)
    CHECK(x == 1);
    __atomic_store_n(&go, 1, __ATOMIC_SEQ_CST);
#pragma omp taskwait
    int first = find(from, KIND(dependences), -1, -1);
    CHECK(first >= 0 && events[first].number == 1 && events[first].other == (uintptr_t)&x);
    CHECK(events[first].what == ompt_dependence_type_out || events[first].what == ompt_dependence_type_inout);
    int second = find(first + 1, KIND(dependences), ompt_dependence_type_in, -1);
    CHECK(second >= 0 && events[find(from, KIND(task_create), -1, -1)].number == 1);
    int pair = find(from, KIND(task_dependence), -1, -1);
    CHECK(pair >= 0 && events[pair].task == events[first].task && events[pair].other == events[second].task);
  }

  // taskgroup and taskloop.
  from = event_count;
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(4) reduction(+ : sum)
  for (int i = 0; i < 12; i++)
    sum += i;
  CHECK(sum == 66);
  int loop = find(from, KIND(work), ompt_work_taskloop, BEGIN);
  CHECK(loop >= 0 && events[loop].number == 12 && find(loop, KIND(work), ompt_work_taskloop, END) > loop);
  uint64_t iterations = 0;
  int chunks = 0;
  for (int i = from; i < event_count; i++)
    if (events[i].kind == KIND(dispatch) && events[i].what == ompt_dispatch_taskloop_chunk)
      chunks++, iterations += events[i].number;
  CHECK(chunks == 4 && iterations == 12);
  CHECK(count(KIND(sync_region), ompt_sync_region_taskgroup, BEGIN) == 1);
  CHECK(count(KIND(sync_region), ompt_sync_region_taskgroup, END) == 1);

  // An event that is fulfilled after the task, and one before its end.
  for (int late = 0; late < 2; late++) {
    from = event_count;
    int ended = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(ended, event)
      {
        if (!late)
          omp_fulfill_event(event);
        __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
      }
      if (late) {
        // Not before the task is left.
        SPIN_UNTIL(find(from, KIND(task_schedule), -1, ompt_task_detach) >= 0);
        omp_fulfill_event(event);
      }
    }
    CHECK(ended);
    int status = late ? ompt_task_late_fulfill : ompt_task_early_fulfill;
    CHECK(find(from, KIND(task_schedule), -1, status) >= 0);
    CHECK((find(from, KIND(task_schedule), -1, ompt_task_detach) >= 0) == late);
  }
  return DONE();
}
