// flags: -pthread -D_GNU_SOURCE
// Cleanup handlers run by pthread_exit and by pop, and deferred cancellation at a cancellation point.
#include <stdio.h>
#include <pthread.h>
#include <unistd.h>
static int order[8], n;
static void c(void *p) { order[n++] = (int)(long)p; }
static void *f(void *a) {
  pthread_cleanup_push(c, (void *)1);
  pthread_cleanup_push(c, (void *)2);
  if (a) pthread_exit((void *)5);
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(0);
  return 0;
}
static volatile int up;
static void *g(void *a) {
  pthread_cleanup_push(c, (void *)9);
  __atomic_store_n(&up, 1, __ATOMIC_SEQ_CST);
  for (;;) {
    usleep(200);
    pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  return a;
}
int main(void) {
  pthread_t t;
  void *r;
  pthread_create(&t, 0, f, (void *)1);
  pthread_join(t, &r);
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  pthread_create(&t, 0, g, 0);
  while (!__atomic_load_n(&up, __ATOMIC_SEQ_CST)) usleep(100);
  pthread_cancel(t);
  void *q;
  pthread_join(t, &q);
  for (int i = 0; i < n; i++) printf("%d ", order[i]);
  printf("%ld %d\n", (long)r, q == PTHREAD_CANCELED);
  return 0;
}
