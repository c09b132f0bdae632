// OpenMP 5.2, section 19.5.2: the events of worksharing, synchronization, mutexes, cancellation, the error directive,
// and omp_control_tool (18.14).
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2 OMP_CANCELLATION=true
#include "tool.inc"
static void at_the_end(void) {}

static int pairs(int kind, int what) {
  int begins = count(kind, what, BEGIN);
  CHECK(begins == count(kind, what, END));
  return begins;
}

int main(void) {
  int sum = 0, hits = 0;
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  CHECK(count(KIND(lock_init), ompt_mutex_lock, -1) == 1 && count(KIND(lock_init), ompt_mutex_nest_lock, -1) == 1);
  CHECK(events[find(0, KIND(lock_init), ompt_mutex_lock, -1)].other == (uintptr_t)&lock);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 10; i++)
      hits += 0;
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 10; i++)
      hits += 0;
#pragma omp for schedule(guided)
    for (int i = 0; i < 10; i++)
      hits += 0;
#pragma omp sections
    {
#pragma omp section
      hits += 0;
#pragma omp section
      hits += 0;
    }
#pragma omp single
    hits += 0;
#pragma omp masked
    hits += 0;
#pragma omp barrier
#pragma omp critical
    sum++;
#pragma omp flush
#pragma omp for ordered
    for (int i = 0; i < 4; i++) {
#pragma omp ordered
      sum++;
    }
  }
  CHECK(sum == 6);
  int work = KIND(work);
  CHECK(pairs(work, ompt_work_loop_static) >= 2 && pairs(work, ompt_work_loop_dynamic) == 2);
  CHECK(pairs(work, ompt_work_loop_guided) == 2 && pairs(work, ompt_work_sections) == 2);
  CHECK(pairs(work, ompt_work_single_executor) == 1 && pairs(work, ompt_work_single_other) == 1);
  int loop = find(0, work, ompt_work_loop_static, BEGIN);
  CHECK(events[loop].number == 10 && events[loop].code);
  uint64_t iterations = 0;
  for (int i = 0; i < event_count; i++)
    if (events[i].kind == KIND(dispatch) && events[i].what == ompt_dispatch_ws_loop_chunk)
      iterations += events[i].number;
  CHECK(iterations == 34);
  CHECK(count(KIND(dispatch), ompt_dispatch_section, -1) >= 1);
  CHECK(pairs(KIND(masked), -1) == 1);
  CHECK(pairs(KIND(sync_region), ompt_sync_region_barrier_explicit) == 2);
  CHECK(pairs(KIND(sync_region_wait), ompt_sync_region_barrier_explicit) == 2);
  CHECK(pairs(KIND(sync_region), ompt_sync_region_barrier_implicit_workshare) >= 10);
  CHECK(count(KIND(flush), -1, -1) == 2);
  int critical = ompt_mutex_critical, ordered = ompt_mutex_ordered;
  CHECK(count(KIND(mutex_acquire), critical, -1) == 2 && count(KIND(mutex_acquired), critical, -1) == 2);
  CHECK(count(KIND(mutex_released), critical, -1) == 2);
  CHECK(count(KIND(mutex_acquired), ordered, -1) == 4 && count(KIND(mutex_released), ordered, -1) == 4);

  // Locks, by this thread alone, in turn.
  int from = event_count;
  omp_set_lock(&lock);
  CHECK(!omp_test_lock(&lock));
  omp_unset_lock(&lock);
  CHECK(omp_test_lock(&lock));
  omp_unset_lock(&lock);
  static const int locks[][2] = {
      {ompt_callback_mutex_acquire, ompt_mutex_lock},       {ompt_callback_mutex_acquired, ompt_mutex_lock},
      {ompt_callback_mutex_acquire, ompt_mutex_test_lock},  {ompt_callback_mutex_released, ompt_mutex_lock},
      {ompt_callback_mutex_acquire, ompt_mutex_test_lock},  {ompt_callback_mutex_acquired, ompt_mutex_test_lock},
      {ompt_callback_mutex_released, ompt_mutex_lock},
  };
  CHECK(event_count - from == 7);
  for (int i = 0; i < 7; i++)
    CHECK(events[from + i].kind == locks[i][0] && events[from + i].what == locks[i][1] && events[from + i].other == (uintptr_t)&lock);
  from = event_count;
  omp_set_nest_lock(&nest);
  CHECK(omp_test_nest_lock(&nest) == 2);
  omp_unset_nest_lock(&nest);
  omp_unset_nest_lock(&nest);
  static const int nests[] = {ompt_callback_mutex_acquire, ompt_callback_mutex_acquired, ompt_callback_mutex_acquire,
                              ompt_callback_nest_lock,     ompt_callback_nest_lock,      ompt_callback_mutex_released};
  CHECK(event_count - from == 6);
  for (int i = 0; i < 6; i++)
    CHECK(events[from + i].kind == nests[i] && events[from + i].other == (uintptr_t)&nest);
  CHECK(events[from + 3].endpoint == BEGIN && events[from + 4].endpoint == END);
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
  CHECK(count(KIND(lock_destroy), ompt_mutex_lock, -1) == 1 && count(KIND(lock_destroy), ompt_mutex_nest_lock, -1) == 1);

  int total = 0;
#pragma omp parallel reduction(+ : total)
  total += 1;
  CHECK(total == 2 && count(KIND(reduction), -1, BEGIN) == 2);

#pragma omp parallel
  {
#pragma omp cancel parallel
  }
  CHECK(count(KIND(cancel), -1, -1) >= 1);
  int cancelled = find(0, KIND(cancel), -1, -1);
  CHECK(cancelled >= 0 && events[cancelled].flags == (ompt_cancel_parallel | ompt_cancel_activated));

#pragma omp error at(execution) severity(warning) message("hello")
  int error = find(0, KIND(error), ompt_warning, -1);
  CHECK(error >= 0 && events[error].number == 5 && events[error].other == 'h' && events[error].code);

  CHECK(omp_control_tool(omp_control_tool_flush, 9, NULL) == 0 && omp_control_tool(omp_control_tool_start, 1, &sum) == 7);
  int control = find(0, KIND(control_tool), -1, -1);
  CHECK(events[control].number == omp_control_tool_flush && events[control].other == 9);
  return DONE();
}
