// setjmp and longjmp between compiled and interpreted functions, over native and parallel frames.
// Functions whose names begin with `interp_` stay interpreted.
// options: --tier=opt
// env: OMPVM_INTERPRET=interp_
// env: OMP_NUM_THREADS=4
// levels: O0 O2
// stdout: compiled from interpreted: 11
// stdout: interpreted from compiled: 12
// stdout: over both: 13
// stdout: over qsort: 14
// stdout: volatile 3 registers 3
// stdout: mask restored 1
// stdout: zero becomes 1
// stdout: in parallel: 400
// stdout: many: 20000
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local jmp_buf there;
static _Thread_local jmp_buf other;

__attribute__((noinline)) void interp_jump(int n) { longjmp(there, n); }
__attribute__((noinline)) void compiled_jump(int n) { longjmp(other, n); }

__attribute__((noinline)) int compiled_sets(int n) {
  int r = setjmp(there);
  if (r == 0) interp_jump(n);
  return r;
}
__attribute__((noinline)) int interp_sets(int n) {
  int r = setjmp(other);
  if (r == 0) compiled_jump(n);
  return r;
}

// compiled sets, interpreted calls compiled calls interpreted, which jumps.
__attribute__((noinline)) void interp_deep(int n) { longjmp(there, n); }
__attribute__((noinline)) void compiled_middle(int n) { interp_deep(n + 1); }
__attribute__((noinline)) void interp_outer(int n) { compiled_middle(n + 1); }
__attribute__((noinline)) int compiled_over(int n) {
  int r = setjmp(there);
  if (r == 0) interp_outer(n);
  return r;
}

static int compare(const void *a, const void *b) {
  (void)a;
  (void)b;
  longjmp(other, 14);
}
__attribute__((noinline)) int interp_qsort(void) {
  int values[3] = {3, 2, 1};
  int r = setjmp(other);
  if (r == 0) qsort(values, 3, sizeof(int), compare);
  return r;
}

__attribute__((noinline)) void counted(void) {
  volatile int kept = 0;
  int turns = 0;
  turns = setjmp(there);
  kept = kept + 1;
  if (turns < 3) interp_jump(turns + 1);
  printf("volatile %d registers %d\n", kept - 1, turns);
}

__attribute__((noinline)) int masked(void) {
  sigjmp_buf buffer;
  sigset_t set, now;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  if (sigsetjmp(buffer, 1) == 0) {
    sigprocmask(SIG_BLOCK, &set, NULL);
    siglongjmp(buffer, 1);
  }
  sigprocmask(SIG_BLOCK, NULL, &now);
  return !sigismember(&now, SIGUSR1);
}

__attribute__((noinline)) int zero(void) {
  int r = setjmp(there);
  if (r == 0) longjmp(there, 0);
  return r;
}

__attribute__((noinline)) int interp_calls(int n) { return compiled_sets(n) + interp_sets(n); }

int main(void) {
  printf("compiled from interpreted: %d\n", compiled_sets(11));
  printf("interpreted from compiled: %d\n", interp_sets(12));
  printf("over both: %d\n", compiled_over(11));
  printf("over qsort: %d\n", interp_qsort());
  counted();
  printf("mask restored %d\n", masked());
  printf("zero becomes %d\n", zero());
  int good = 0;
#pragma omp parallel for reduction(+ : good)
  for (int i = 1; i <= 200; i++) good += (compiled_sets(i) == i) + (interp_sets(i) == i);
  printf("in parallel: %d\n", good);
  int many = 0;
  for (int i = 1; i <= 10000; i++) many += (compiled_over(i) == i + 2) + (interp_calls(i) == 2 * i);
  printf("many: %d\n", many);
  return 0;
}
