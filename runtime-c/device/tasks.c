/* Tasks: each executes at once, on the encountering thread, which the specification allows.
 *
 * So dependences hold, no wait is needed, and a task's reductions go to the variable itself.
 */
#include "device.h"

typedef struct Task Task;
struct Task {
  void *shared;
  int32_t (*routine)(int32_t, Task *);
  int32_t part;
  void (*destructors)(int32_t, Task *);
  void *priority;
  /* Only in a taskloop's task. */
  uint64_t lower, upper;
  int64_t step;
  int32_t last;
};

/* Size of the header in front of a task's memory, which holds its flags. */
enum { BEFORE = 16 };

ENTRY Task *__kmpc_omp_task_alloc(Ident *ident, int32_t thread, int32_t flags, size_t size,
                                  size_t shared, int32_t (*routine)(int32_t, Task *)) {
  (void)ident, (void)thread;
  size_t rounded = (size + 15) & ~(size_t)15;
  char *memory = allocate(BEFORE + rounded + shared, "__kmpc_omp_task_alloc");
  *(int32_t *)memory = flags;
  Task *task = (Task *)(memory + BEFORE);
  task->shared = shared ? memory + BEFORE + rounded : NULL;
  task->routine = routine;
  task->part = 0;
  task->destructors = NULL;
  return task;
}
ENTRY Task *__kmpc_omp_target_task_alloc(Ident *ident, int32_t thread, int32_t flags, size_t size,
                                         size_t shared, int32_t (*routine)(int32_t, Task *),
                                         int64_t device) {
  (void)device;
  return __kmpc_omp_task_alloc(ident, thread, flags, size, shared, routine);
}

static void end_task(int32_t thread, Task *task) {
  char *memory = (char *)task - BEFORE;
  if (*(int32_t *)memory & TASK_DESTRUCTORS && task->destructors)
    task->destructors(thread, task);
  free(memory);
}

ENTRY int32_t __kmpc_omp_task(Ident *ident, int32_t thread, Task *task) {
  (void)ident;
  task->routine(thread, task);
  end_task(thread, task);
  return 0;
}
ENTRY int32_t __kmpc_omp_task_with_deps(Ident *ident, int32_t thread, Task *task, int32_t count,
                                        void *list, int32_t aliased, void *no_alias) {
  (void)count, (void)list, (void)aliased, (void)no_alias;
  return __kmpc_omp_task(ident, thread, task);
}
/* Between these two calls the compiler's code executes the task. */
ENTRY void __kmpc_omp_task_begin_if0(Ident *i, int32_t t, Task *task) {
  (void)i, (void)t, (void)task;
}
ENTRY void __kmpc_omp_task_complete_if0(Ident *ident, int32_t thread, Task *task) {
  (void)ident;
  end_task(thread, task);
}
ENTRY void __kmpc_taskloop(Ident *ident, int32_t thread, Task *task, int32_t condition,
                           uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup,
                           int32_t schedule, uint64_t grain, void *copy) {
  (void)condition, (void)lower, (void)upper, (void)step, (void)nogroup, (void)schedule;
  (void)grain, (void)copy;
  task->last = 1;
  __kmpc_omp_task(ident, thread, task);
}
ENTRY void __kmpc_taskloop_5(Ident *ident, int32_t thread, Task *task, int32_t condition,
                             uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup,
                             int32_t schedule, uint64_t grain, int32_t strict, void *copy) {
  (void)strict;
  __kmpc_taskloop(ident, thread, task, condition, lower, upper, step, nogroup, schedule, grain,
                  copy);
}

ENTRY int32_t __kmpc_omp_taskwait(Ident *i, int32_t t) {
  (void)i, (void)t;
  return 0;
}
ENTRY void __kmpc_omp_wait_deps(Ident *i, int32_t t, int32_t n, void *l, int32_t a, void *b) {
  (void)i, (void)t, (void)n, (void)l, (void)a, (void)b;
}
ENTRY void __kmpc_omp_taskwait_deps_51(Ident *i, int32_t t, int32_t n, void *l, int32_t a, void *b,
                                       int32_t nowait) {
  (void)i, (void)t, (void)n, (void)l, (void)a, (void)b, (void)nowait;
}
ENTRY int32_t __kmpc_omp_taskyield(Ident *i, int32_t t, int32_t end) {
  (void)i, (void)t, (void)end;
  return 0;
}
ENTRY void __kmpc_taskgroup(Ident *i, int32_t t) { (void)i, (void)t; }
ENTRY void __kmpc_end_taskgroup(Ident *i, int32_t t) { (void)i, (void)t; }
ENTRY void *__kmpc_taskred_init(int32_t t, int32_t count, void *list) {
  (void)t, (void)count, (void)list;
  return NULL;
}
/* With a `task` modifier the reduction's own variable is already private to the thread. */
ENTRY void *__kmpc_taskred_modifier_init(Ident *i, int32_t t, int32_t loop, int32_t count,
                                         void *list) {
  (void)i, (void)t, (void)loop, (void)count, (void)list;
  return NULL;
}
ENTRY void __kmpc_task_reduction_modifier_fini(Ident *i, int32_t t, int32_t loop) {
  (void)i, (void)t, (void)loop;
}
ENTRY int32_t __kmpc_omp_reg_task_with_affinity(Ident *i, int32_t t, Task *task, int32_t count,
                                                void *list) {
  (void)i, (void)t, (void)task, (void)count, (void)list;
  return 0;
}
ENTRY void *__kmpc_task_reduction_get_th_data(int32_t t, void *group, void *item) {
  (void)t, (void)group;
  return item;
}
ENTRY int32_t omp_in_final(void) { return 0; }
ENTRY int32_t omp_get_max_task_priority(void) { return 0; }
