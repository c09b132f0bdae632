// flags: -pthread
// pthread_kill to a given thread, signal masks per thread, sigwait.
#include <stdio.h>
#include <signal.h>
#include <pthread.h>
#include <sched.h>
static __thread int mine;
static volatile int got;
static volatile int up;
static void h(int s) {
  (void)s;
  mine++;
  got++;
}
static void *f(void *a) {
  (void)a;
  __atomic_store_n(&up, 1, __ATOMIC_SEQ_CST);
  while (!got) sched_yield();
  return (void *)(long)mine;
}
static void *w(void *a) {
  int s;
  sigwait(a, &s);
  return (void *)(long)(s == SIGUSR2);
}
int main(void) {
  signal(SIGUSR1, h);
  pthread_t t;
  void *r;
  pthread_create(&t, 0, f, 0);
  while (!__atomic_load_n(&up, __ATOMIC_SEQ_CST)) sched_yield();
  pthread_kill(t, SIGUSR1);
  pthread_join(t, &r);
  printf("%ld %d %d\n", (long)r, mine, got);
  sigset_t m;
  sigemptyset(&m);
  sigaddset(&m, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &m, 0);
  pthread_create(&t, 0, w, &m);
  pthread_kill(t, SIGUSR2);
  pthread_join(t, &r);
  printf("%ld\n", (long)r);
  return 0;
}
