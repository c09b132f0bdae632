// exit: 7
// flags: -pthread
// Release/acquire message passing and a sequentially consistent ping-pong between two threads.
#include <stdio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
static int data[64];
static atomic_int ready, turn;
static int log_[40], nlog;
static void *prod(void *x) {
  (void)x;
  for (int i = 0; i < 64; i++) data[i] = i * i;
  atomic_store_explicit(&ready, 1, memory_order_release);
  for (int i = 0; i < 20; i++) {
    while (atomic_load(&turn) != 1) sched_yield();
    log_[nlog++] = -i;
    atomic_store(&turn, 0);
  }
  return (void *)7;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, prod, 0);
  while (!atomic_load_explicit(&ready, memory_order_acquire)) sched_yield();
  int s = 0;
  for (int i = 0; i < 64; i++) s += data[i];
  for (int i = 0; i < 20; i++) {
    while (atomic_load(&turn) != 0) sched_yield();
    log_[nlog++] = i;
    atomic_store(&turn, 1);
  }
  void *r;
  pthread_join(t, &r);
  for (int i = 0; i < nlog; i++) printf("%d ", log_[i]);
  printf("%d\n", s);
  return (int)(long)r;
}
