// flags: -pthread
// Thread-specific keys with destructors.
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
static pthread_key_t k, k2;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int destroyed, total;
static void d(void *p) {
  pthread_mutex_lock(&m);
  destroyed++;
  total += *(int *)p;
  pthread_mutex_unlock(&m);
  free(p);
}
static void *f(void *a) {
  int *p = malloc(sizeof *p);
  *p = (int)(long)a;
  pthread_setspecific(k, p);
  pthread_setspecific(k2, (void *)((long)a * 2));
  return (void *)((long)pthread_getspecific(k2) + *(int *)pthread_getspecific(k));
}
int main(void) {
  pthread_key_create(&k, d);
  pthread_key_create(&k2, 0);
  pthread_t t[5];
  long s = 0;
  for (long i = 0; i < 5; i++) pthread_create(&t[i], 0, f, (void *)(i + 1));
  for (int i = 0; i < 5; i++) {
    void *r;
    pthread_join(t[i], &r);
    s += (long)r;
  }
  printf("%ld %d %d %d\n", s, destroyed, total, pthread_getspecific(k) == 0);
  return 0;
}
