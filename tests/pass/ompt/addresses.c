// OpenMP 5.2, section 19.5 (codeptr_ra): the address behind the call in the program's code, in every tier: near a label that follows
// the construct, the same each time and at both ends of a region, another one for another construct.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2
#include "tool.inc"
static void at_the_end(void) {}
static int sink;
static omp_lock_t lock;
static const void *volatile label;

static const void *told(int kind, int what, int endpoint) {
  for (int i = event_count - 1; i >= 0; i--)
    if (events[i].kind == kind && (what < 0 || events[i].what == what) && (endpoint < 0 || events[i].endpoint == endpoint) &&
        events[i].code)
      return events[i].code;
  return NULL;
}
// The instruction makes the label start a separate block.
#define HERE(NAME) \
  __asm__ volatile("nop"); \
NAME: \
  label = &&NAME

__attribute__((noinline)) static void region(void) {
#pragma omp parallel
  __atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
  HERE(here);
}
__attribute__((noinline)) static void critical(void) {
#pragma omp critical
  sink++;
  HERE(here);
}
__attribute__((noinline)) static void barrier(void) {
#pragma omp barrier
  HERE(here);
}
__attribute__((noinline)) static void set(void) {
  omp_set_lock(&lock);
  HERE(here);
  omp_unset_lock(&lock);
}
__attribute__((noinline)) static void task(void) {
#pragma omp task shared(sink)
  __atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
  HERE(here);
}
__attribute__((noinline)) static void wait(void) {
#pragma omp taskwait
  HERE(here);
}
__attribute__((noinline)) static void loop(void) {
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 2; i++)
    __atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
  HERE(here);
}

// Two constructs of one kind, in one line even.
__attribute__((noinline)) static void twice(const void **codes) {
  // clang-format off
  _Pragma("omp parallel") __atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED); codes[0] = told(KIND(parallel_begin), -1, -1); _Pragma("omp parallel") __atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED); codes[2] = told(KIND(parallel_begin), -1, -1);
  // clang-format on
}
static void both(void (*construct)(void), int kind, int what, int endpoint) {
  construct();
  const void *first = told(kind, what, endpoint), *behind = label;
  CHECK(first && (const char *)behind - (const char *)first > -512 && (const char *)behind - (const char *)first < 512);
  construct();
  CHECK(told(kind, what, endpoint) == first && label == behind);
}

int main(void) {
  omp_init_lock(&lock);
  both(region, KIND(parallel_begin), -1, -1);
  CHECK(told(KIND(parallel_begin), -1, -1) == told(KIND(parallel_end), -1, -1));
  both(critical, KIND(mutex_acquired), ompt_mutex_critical, -1);
  CHECK(told(KIND(mutex_acquire), ompt_mutex_critical, -1) == told(KIND(mutex_acquired), ompt_mutex_critical, -1));
  CHECK(told(KIND(mutex_released), ompt_mutex_critical, -1) != told(KIND(mutex_acquired), ompt_mutex_critical, -1));
  both(barrier, KIND(sync_region), ompt_sync_region_barrier_explicit, BEGIN);
  both(set, KIND(mutex_acquired), ompt_mutex_lock, -1);
  both(task, KIND(task_create), -1, -1);
  both(wait, KIND(sync_region), ompt_sync_region_taskwait, BEGIN);
  both(loop, KIND(work), -1, BEGIN);

  const void *codes[4];
  for (int i = 0; i < 2; i++)
    twice(codes + i);
  CHECK(codes[0] && codes[2] && codes[0] != codes[2] && codes[1] != codes[3]);
  return DONE();
}
