// flags: -pthread
// Each thread has its own jump buffer and jumps within itself while the others run.
#include <stdio.h>
#include <setjmp.h>
#include <pthread.h>
static __thread jmp_buf jb;
static __thread int depth;
__attribute__((noinline)) static void sink(int n) {
  depth++;
  if (n == 0) longjmp(jb, depth);
  sink(n - 1);
}
static void *f(void *a) {
  long s = 0;
  for (volatile long i = 1; i <= 30; i++) {
    depth = 0;
    int r = setjmp(jb);
    if (!r)
      sink((int)i);
    else
      s += r;
  }
  return (void *)(s * (long)a);
}
int main(void) {
  pthread_t t[3];
  long s = 0;
  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, f, (void *)(i + 1));
  for (int i = 0; i < 3; i++) {
    void *r;
    pthread_join(t[i], &r);
    s = s * 7 + (long)r;
  }
  printf("%ld\n", s);
  return 0;
}
