// A tool inside of the program: the runtime asks its ompt_start_tool first. Every callback adds one event to a list under a lock;
// the programs look at the list of one thread (`of`), or count. Data words get numbers, so that events can be told to be about
// the same region or task.
#ifndef OMPVM_TESTS_TOOL_H
#define OMPVM_TESTS_TOOL_H
#include "../../check.h"
#include <omp-tools.h>
#include <stdint.h>

struct event {
  int kind;            // ompt_callbacks_t
  int endpoint;        // or the status of a task that is left
  int what;            // kind of mutex, work, ...
  uint64_t region, task, other, number;
  unsigned flags;
  const void *code;
  uint64_t thread;
};

enum { EVENTS = 1 << 14 };
static struct event events[EVENTS];
static int event_count;
static uint64_t words;
static int tool_ended;

static ompt_set_callback_t set_callback;
static ompt_get_callback_t get_callback;
static ompt_get_thread_data_t get_thread_data;
static ompt_get_unique_id_t get_unique_id;
static ompt_get_state_t get_state;
static ompt_get_parallel_info_t get_parallel_info;
static ompt_get_task_info_t get_task_info;
static ompt_get_task_memory_t get_task_memory;
static ompt_enumerate_states_t enumerate_states;
static ompt_enumerate_mutex_impls_t enumerate_mutex_impls;
static ompt_get_num_procs_t get_num_procs;
static ompt_get_proc_id_t get_proc_id;
static ompt_get_num_places_t get_num_places;
static ompt_get_place_num_t get_place_num;
static ompt_get_num_devices_t get_num_devices;
static ompt_get_target_info_t get_target_info;
static ompt_finalize_tool_t finalize_tool;

static uint64_t name(ompt_data_t *data) {
  if (!data)
    return 0;
  if (!data->value)
    data->value = __atomic_add_fetch(&words, 1, __ATOMIC_SEQ_CST);
  return data->value;
}

static struct event *add(int kind) {
  int at = __atomic_fetch_add(&event_count, 1, __ATOMIC_SEQ_CST);
  if (at >= EVENTS)
    abort();
  struct event *e = &events[at];
  e->kind = kind;
  ompt_data_t *me = get_thread_data();
  e->thread = me ? me->value : 0;
  return e;
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t *thread) {
  name(thread);
  add(ompt_callback_thread_begin)->what = type;
}
static void on_thread_end(ompt_data_t *thread) { add(ompt_callback_thread_end)->other = thread->value; }
static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned requested, int flags,
                              const void *code) {
  struct event *e = add(ompt_callback_parallel_begin);
  e->task = name(task), e->region = name(region), e->number = requested, e->flags = flags, e->code = code;
  e->what = frame->enter_frame.ptr != NULL;
}
static void on_parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *code) {
  struct event *e = add(ompt_callback_parallel_end);
  e->task = name(task), e->region = name(region), e->flags = flags, e->code = code;
}
static void on_implicit_task(ompt_scope_endpoint_t end, ompt_data_t *region, ompt_data_t *task, unsigned size, unsigned index,
                             int flags) {
  struct event *e = add(ompt_callback_implicit_task);
  e->endpoint = end, e->region = name(region), e->task = name(task), e->number = size, e->other = index, e->flags = flags;
}
static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *fresh, int flags, int depend, const void *code) {
  struct event *e = add(ompt_callback_task_create);
  e->task = name(task), e->other = name(fresh), e->flags = flags, e->number = depend, e->code = code;
  e->what = frame->enter_frame.ptr != NULL;
}
static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next) {
  struct event *e = add(ompt_callback_task_schedule);
  e->task = name(prior), e->other = name(next), e->endpoint = status;
}
static void on_work(ompt_work_t work, ompt_scope_endpoint_t end, ompt_data_t *region, ompt_data_t *task, uint64_t count,
                    const void *code) {
  struct event *e = add(ompt_callback_work);
  e->what = work, e->endpoint = end, e->region = name(region), e->task = name(task), e->number = count, e->code = code;
}
static void on_dispatch(ompt_data_t *region, ompt_data_t *task, ompt_dispatch_t kind, ompt_data_t instance) {
  struct event *e = add(ompt_callback_dispatch);
  e->what = kind, e->region = name(region), e->task = name(task);
  if (kind != ompt_dispatch_section) {
    ompt_dispatch_chunk_t *chunk = instance.ptr;
    e->other = chunk->start, e->number = chunk->iterations;
  }
}
static void on_masked(ompt_scope_endpoint_t end, ompt_data_t *region, ompt_data_t *task, const void *code) {
  struct event *e = add(ompt_callback_masked);
  e->endpoint = end, e->region = name(region), e->task = name(task), e->code = code;
}
static void sync_event(int number, ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *region, ompt_data_t *task,
                       const void *code) {
  struct event *e = add(number);
  e->what = kind, e->endpoint = end, e->region = name(region), e->task = name(task), e->code = code;
}
static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *region, ompt_data_t *task,
                           const void *code) {
  sync_event(ompt_callback_sync_region, kind, end, region, task, code);
}
static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *region, ompt_data_t *task,
                                const void *code) {
  sync_event(ompt_callback_sync_region_wait, kind, end, region, task, code);
}
static void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *region, ompt_data_t *task,
                         const void *code) {
  sync_event(ompt_callback_reduction, kind, end, region, task, code);
}
static void acquire_event(int number, ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void *code) {
  struct event *e = add(number);
  e->what = kind, e->flags = hint, e->number = impl, e->other = wait, e->code = code;
}
static void on_lock_init(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void *code) {
  acquire_event(ompt_callback_lock_init, kind, hint, impl, wait, code);
}
static void on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait, const void *code) {
  acquire_event(ompt_callback_mutex_acquire, kind, hint, impl, wait, code);
}
static void mutex_event(int number, ompt_mutex_t kind, ompt_wait_id_t wait, const void *code) {
  struct event *e = add(number);
  e->what = kind, e->other = wait, e->code = code;
}
static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code) {
  mutex_event(ompt_callback_mutex_acquired, kind, wait, code);
}
static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code) {
  mutex_event(ompt_callback_mutex_released, kind, wait, code);
}
static void on_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code) {
  mutex_event(ompt_callback_lock_destroy, kind, wait, code);
}
static void on_nest_lock(ompt_scope_endpoint_t end, ompt_wait_id_t wait, const void *code) {
  struct event *e = add(ompt_callback_nest_lock);
  e->endpoint = end, e->other = wait, e->code = code;
}
static void on_flush(ompt_data_t *thread, const void *code) { add(ompt_callback_flush)->code = thread ? code : NULL; }
static void on_cancel(ompt_data_t *task, int flags, const void *code) {
  struct event *e = add(ompt_callback_cancel);
  e->task = name(task), e->flags = flags, e->code = code;
}
static void on_dependences(ompt_data_t *task, const ompt_dependence_t *list, int count) {
  struct event *e = add(ompt_callback_dependences);
  e->task = name(task), e->number = count;
  if (count > 0)
    e->what = list[0].dependence_type, e->other = list[0].variable.value;
}
static void on_task_dependence(ompt_data_t *source, ompt_data_t *sink) {
  struct event *e = add(ompt_callback_task_dependence);
  e->task = name(source), e->other = name(sink);
}
static void on_error(ompt_severity_t severity, const char *message, size_t length, const void *code) {
  struct event *e = add(ompt_callback_error);
  e->what = severity, e->number = length, e->other = message[0], e->code = code;
}
static int on_control_tool(uint64_t command, uint64_t modifier, void *arg, const void *code) {
  struct event *e = add(ompt_callback_control_tool);
  e->number = command, e->other = modifier, e->code = code;
  return arg ? 7 : 0;
}

// Begins and ends of threads and of the tool come after main, so they are checked in `finalize`.
static void at_the_end(void);

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data) {
#define FIND(NAME) NAME = (ompt_##NAME##_t)lookup("ompt_" #NAME)
  FIND(set_callback), FIND(get_callback), FIND(get_thread_data), FIND(get_unique_id), FIND(get_state), FIND(get_parallel_info);
  FIND(get_task_info), FIND(get_task_memory), FIND(enumerate_states), FIND(enumerate_mutex_impls), FIND(get_num_procs);
  FIND(get_proc_id), FIND(get_num_places), FIND(get_place_num), FIND(get_num_devices), FIND(get_target_info), FIND(finalize_tool);
  CHECK(!lookup("ompt_no_such_function"));
#define SET(NAME) CHECK(set_callback(ompt_callback_##NAME, (ompt_callback_t)on_##NAME) == ompt_set_always)
  SET(thread_begin), SET(thread_end), SET(parallel_begin), SET(parallel_end), SET(implicit_task), SET(task_create);
  SET(task_schedule), SET(work), SET(dispatch), SET(masked), SET(sync_region), SET(sync_region_wait), SET(reduction);
  SET(lock_init), SET(lock_destroy), SET(mutex_acquire), SET(mutex_acquired), SET(mutex_released), SET(nest_lock), SET(flush);
  SET(cancel), SET(dependences), SET(task_dependence), SET(error), SET(control_tool);
  CHECK(data->value == 42);
  data->value = 43;
  return 1;
}
static void finalize(ompt_data_t *data) {
  CHECK(data->value == 43);
  tool_ended++;
  at_the_end();
}
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
  static ompt_start_tool_result_t result;
  result.initialize = initialize, result.finalize = finalize, result.tool_data.value = 42;
  CHECK(version >= 201811 && runtime[0]);
  return &result;
}

// Events of a kind, with this `what` (-1: any) and this endpoint (-1: any).
static int count(int kind, int what, int endpoint) {
  int found = 0;
  for (int i = 0; i < event_count; i++)
    found += events[i].kind == kind && (what < 0 || events[i].what == what) && (endpoint < 0 || events[i].endpoint == endpoint);
  return found;
}
// The first such event at `from` or later; the position, -1 for none.
static int find(int from, int kind, int what, int endpoint) {
  for (int i = from; i < event_count; i++)
    if (events[i].kind == kind && (what < 0 || events[i].what == what) && (endpoint < 0 || events[i].endpoint == endpoint))
      return i;
  return -1;
}
#define KIND(NAME) ompt_callback_##NAME
#define BEGIN ompt_scope_begin
#define END ompt_scope_end
#endif
