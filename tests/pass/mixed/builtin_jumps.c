// __builtin_setjmp and __builtin_longjmp between compiled and interpreted functions, over native and parallel frames.
// Functions whose names begin with `interp_` stay interpreted.
// options: --tier=opt
// env: OMPVM_INTERPRET=interp_
// env: OMP_NUM_THREADS=4
// levels: O0 O2
// stdout: compiled from interpreted: 1
// stdout: interpreted from compiled: 1
// stdout: over both: 1
// stdout: over qsort: 3
// stdout: in parallel: 400
// stdout: in tasks: 60
// stdout: many: 20000
#include <stdio.h>
#include <stdlib.h>

typedef void *Buffer[5];
static _Thread_local Buffer there, other;

__attribute__((noinline)) void interp_jump(void) { __builtin_longjmp(there, 1); }
__attribute__((noinline)) void compiled_jump(void) { __builtin_longjmp(other, 1); }

__attribute__((noinline)) int compiled_sets(void) {
  if (__builtin_setjmp(there)) return 1;
  interp_jump();
  return 0;
}
__attribute__((noinline)) int interp_sets(void) {
  if (__builtin_setjmp(other)) return 1;
  compiled_jump();
  return 0;
}

__attribute__((noinline)) void compiled_middle(int n) {
  volatile char space[100];
  space[n] = 1;
  if (n == 0) interp_jump();
  compiled_middle(n - 1);
}
__attribute__((noinline)) void interp_outer(int n) {
  compiled_middle(n);
}
__attribute__((noinline)) int compiled_over(void) {
  if (__builtin_setjmp(there)) return 1;
  interp_outer(20);
  return 0;
}

static _Thread_local int asked;
static int compare(const void *a, const void *b) {
  (void)a;
  (void)b;
  if (++asked == 3) __builtin_longjmp(other, 1);
  return 0;
}
__attribute__((noinline)) int interp_qsort(void) {
  int values[8] = {3, 2, 1, 7, 8};
  if (__builtin_setjmp(other)) return asked;
  qsort(values, 8, sizeof(int), compare);
  return -1;
}

int main(void) {
  printf("compiled from interpreted: %d\n", compiled_sets());
  printf("interpreted from compiled: %d\n", interp_sets());
  printf("over both: %d\n", compiled_over());
  printf("over qsort: %d\n", interp_qsort());
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += compiled_sets() + interp_sets() + compiled_over() + (compiled_sets() == 1);
  printf("in parallel: %d\n", sum);
  int tasks = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; i++)
#pragma omp task shared(tasks)
  {
    int here = compiled_sets() + interp_sets() + compiled_over();
#pragma omp atomic
    tasks += here;
  }
  printf("in tasks: %d\n", tasks);
  int many = 0;
  for (int i = 0; i < 10000; i++)
    many += compiled_sets() + interp_sets();
  printf("many: %d\n", many);
}
