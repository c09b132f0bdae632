// flags: -pthread -D_GNU_SOURCE
// pthread_once, rwlocks, barriers, recursive mutexes, attributes with a stack size.
#include <stdio.h>
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int inits, shared, serial;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t b;
static pthread_mutex_t rec;
static int phase[4];
static void init(void) {
  inits++;
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&rec, &a);
}
static void *f(void *a) {
  int id = (int)(long)a;
  pthread_once(&once, init);
  for (int p = 0; p < 3; p++) {
    phase[id] = p + 1;
    int r = pthread_barrier_wait(&b);
    if (r == PTHREAD_BARRIER_SERIAL_THREAD) __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
      if (phase[i] != p + 1) __atomic_fetch_add(&shared, 1000, __ATOMIC_RELAXED);
    pthread_barrier_wait(&b);
  }
  for (int i = 0; i < 50; i++) {
    pthread_rwlock_wrlock(&rw);
    shared++;
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_unlock(&rw);
  }
  pthread_mutex_lock(&rec);
  pthread_mutex_lock(&rec);
  int t = pthread_mutex_trylock(&rec);
  for (int i = 0; i < 3; i++) pthread_mutex_unlock(&rec);
  return (void *)(long)t;
}
int main(void) {
  pthread_barrier_init(&b, 0, 4);
  pthread_attr_t at;
  pthread_attr_init(&at);
  pthread_attr_setstacksize(&at, 1 << 20);
  pthread_t t[4];
  for (long i = 0; i < 4; i++) pthread_create(&t[i], &at, f, (void *)i);
  long s = 0;
  for (int i = 0; i < 4; i++) {
    void *r;
    pthread_join(t[i], &r);
    s += (long)r;
  }
  printf("%d %d %d %ld\n", inits, shared, serial, s);
  return 0;
}
