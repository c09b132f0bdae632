// flags: -pthread
// Mutex and condition variable: a bounded queue with two producers and two consumers.
#include <stdio.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ne = PTHREAD_COND_INITIALIZER, nf = PTHREAD_COND_INITIALIZER;
static int q[8], head, tail, n;
static long sum, cnt;
static void put(int v) {
  pthread_mutex_lock(&m);
  while (n == 8) pthread_cond_wait(&nf, &m);
  q[tail++ & 7] = v;
  n++;
  pthread_cond_signal(&ne);
  pthread_mutex_unlock(&m);
}
static int get(void) {
  pthread_mutex_lock(&m);
  while (n == 0) pthread_cond_wait(&ne, &m);
  int v = q[head++ & 7];
  n--;
  pthread_cond_signal(&nf);
  pthread_mutex_unlock(&m);
  return v;
}
static void *prod(void *a) {
  for (int i = 1; i <= 200; i++) put(i * (int)(long)a);
  return 0;
}
static void *cons(void *a) {
  (void)a;
  for (int i = 0; i < 200; i++) {
    int v = get();
    pthread_mutex_lock(&m);
    sum += v;
    cnt++;
    pthread_mutex_unlock(&m);
  }
  return 0;
}
int main(void) {
  pthread_t t[4];
  pthread_create(t, 0, prod, (void *)1);
  pthread_create(t + 1, 0, prod, (void *)3);
  pthread_create(t + 2, 0, cons, 0);
  pthread_create(t + 3, 0, cons, 0);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  printf("%ld %ld %d\n", sum, cnt, n);
  return 0;
}
