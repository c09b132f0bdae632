// A collector that scans from its own frame to the end of the thread's stack finds a pointer that only a caller's local variable holds, on
// the first thread and on others; the stack grows down.
// levels: O0 O2
// flags: -D_GNU_SOURCE -lpthread
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
__attribute__((noinline)) static int scan(uintptr_t hidden) {
  jmp_buf registers;
  setjmp(registers);
  pthread_attr_t a;
  void *base;
  size_t size;
  pthread_getattr_np(pthread_self(), &a);
  pthread_attr_getstack(&a, &base, &size);
  pthread_attr_destroy(&a);
  volatile char here;
  uintptr_t from = (uintptr_t)__builtin_frame_address(0), to = (uintptr_t)base + size;
  CHECK((uintptr_t)&here >= (uintptr_t)base && (uintptr_t)&here < to);
  CHECK(from >= (uintptr_t)base && from < to);
  if ((uintptr_t)&here < from) from = (uintptr_t)&here;
  for (uintptr_t *p = (uintptr_t *)(from & -8l); p < (uintptr_t *)to; p++)
    if (*p == ~hidden) return 1;
  return 0;
}
__attribute__((noinline)) static int deeper(int n, uintptr_t hidden) { return n ? deeper(n - 1, hidden) + 0 : scan(hidden); }
__attribute__((noinline)) static int holds(int n) {
  char *object = malloc(40);
  object[0] = 'x';
  char *volatile held = object;
  int found = deeper(n, ~(uintptr_t)object);
  int right = held[0] == 'x';
  free(held);
  return found && right;
}
__attribute__((noinline)) static int grows_down(volatile char *above) {
  volatile char here = 0;
  return &here < above;
}
static void *run(void *unused) {
  (void)unused;
  volatile char here = 0;
  CHECK(grows_down(&here));
  for (int n = 0; n < 300; n += 37) CHECK(holds(n));
  return 0;
}
int main(void) {
  run(0);
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
#pragma omp parallel num_threads(3)
  run(0);
  return DONE();
}
