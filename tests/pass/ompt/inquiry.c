// OpenMP 5.2, section 19.6: a tool's inquiry functions, and ompt_finalize_tool, after which no events follow.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2
#include "tool.inc"
#include <pthread.h>
static void at_the_end(void) {}

// A thread that has not called the runtime is on no place and unknown; libomp reports that it executes serially.
static void *stranger(void *unused) {
  CHECK(get_place_num() == -1 && get_proc_id() == -1 && !get_thread_data() && get_state(NULL) == ompt_state_work_serial);
  // Then it calls the runtime, and has its own initial task until it ends.
  int before = count(KIND(thread_begin), -1, -1), ended = count(KIND(thread_end), -1, -1);
  omp_lock_t lock;
  omp_init_lock(&lock);
  CHECK(count(KIND(thread_begin), -1, -1) == before + 1 && count(KIND(thread_end), -1, -1) == ended && get_proc_id() >= 0);
  return unused;
}

int main(void) {
  int state = ompt_state_undefined, states = 0, serial = 0;
  const char *text;
#pragma omp parallel
  {
#pragma omp critical
    CHECK(get_state(NULL) == ompt_state_work_parallel && get_thread_data()->value != 0);
  }
  while (enumerate_states(state, &state, &text))
    states++, serial += state == ompt_state_work_serial && !strcmp(text, "ompt_state_work_serial");
  CHECK(states > 8 && serial == 1);
  int impl = 0, impls = 0;
  while (enumerate_mutex_impls(impl, &impl, &text))
    impls++;
  CHECK(impls >= 1 && impl != 0);
  ompt_wait_id_t wait = 1;
  CHECK(get_state(&wait) == ompt_state_work_serial && wait == 0);
  CHECK(get_unique_id() != get_unique_id());
  CHECK(get_num_procs() > 0 && get_proc_id() >= 0 && get_num_places() == omp_get_num_places());
  CHECK(get_num_devices() == omp_get_num_devices() && get_target_info(NULL, NULL, NULL) == 0);
  ompt_callback_t callback = NULL;
  CHECK(get_callback(ompt_callback_work, &callback) == 1 && callback == (ompt_callback_t)on_work);
  CHECK(set_callback(ompt_callback_work, NULL) == ompt_set_always && get_callback(ompt_callback_work, &callback) == 0);
  CHECK(set_callback(ompt_callback_device_load, (ompt_callback_t)on_flush) == ompt_set_never);
  CHECK(set_callback(1000, NULL) == ompt_set_error);
  int level = 0;
  while (get_task_info(level, NULL, NULL, NULL, NULL, NULL))
    level++;
  CHECK(level == 1);
#pragma omp parallel for
  for (int i = 0; i < 4; i++)
    CHECK(i >= 0);
  CHECK(count(KIND(work), -1, -1) == 0);

  pthread_t thread;
  int ended = count(KIND(thread_end), -1, -1), tasks = count(KIND(implicit_task), -1, END);
  CHECK(!pthread_create(&thread, NULL, stranger, NULL) && !pthread_join(thread, NULL));
  CHECK(count(KIND(thread_end), -1, -1) == ended + 1 && count(KIND(implicit_task), -1, END) == tasks + 1);

  CHECK(!tool_ended);
  finalize_tool();
  CHECK(tool_ended == 1);
  int before = event_count;
  CHECK(count(KIND(thread_end), -1, -1) == 3);
#pragma omp parallel
  {
#pragma omp barrier
  }
  CHECK(event_count == before && omp_control_tool(omp_control_tool_start, 0, NULL) == -2);
  return DONE();
}
