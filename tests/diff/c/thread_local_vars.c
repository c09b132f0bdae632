// flags: -pthread
// _Thread_local and __thread: initialized, zero, arrays, addresses distinct per thread, static in a function.
#include <stdio.h>
#include <pthread.h>
static _Thread_local int a = 7;
__thread long z;
static __thread int arr[100] = {[50] = 5};
static __thread struct {
  char c;
  double d;
} s = {'x', 2.5};
static int *addr[3];
static int next(void) {
  static _Thread_local int n = 100;
  return n++;
}
static void *f(void *p) {
  long id = (long)p;
  a += (int)id;
  z = id * 10;
  arr[id]++;
  s.d *= (double)id;
  addr[id] = &a;
  int r = next() + next();
  return (void *)(a + z + arr[50] + arr[id] + (long)(s.d * 2) + r);
}
int main(void) {
  pthread_t t[2];
  void *r[3];
  pthread_create(&t[0], 0, f, (void *)1);
  pthread_create(&t[1], 0, f, (void *)2);
  r[0] = f((void *)0);
  pthread_join(t[0], &r[1]);
  pthread_join(t[1], &r[2]);
  printf("%ld %ld %ld %d %d %ld %d %d\n", (long)r[0], (long)r[1], (long)r[2], a, next(), z, arr[0],
         addr[0] == &a && addr[1] != &a);
  return 0;
}
