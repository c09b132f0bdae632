// flags: -pthread
// Atomic counters, a spin lock and a ticket lock contended by four threads.
#include <stdio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
static atomic_long n;
static atomic_flag lk = ATOMIC_FLAG_INIT;
static atomic_uint next, serving;
static long plain, ticketed;
static _Atomic double dsum;
static atomic_int maxv;
static void *work(void *a) {
  int id = *(int *)a;
  for (int i = 0; i < 500; i++) {
    atomic_fetch_add_explicit(&n, id, memory_order_relaxed);
    while (atomic_flag_test_and_set_explicit(&lk, memory_order_acquire)) sched_yield();
    plain += i;
    atomic_flag_clear_explicit(&lk, memory_order_release);
    unsigned t = atomic_fetch_add(&next, 1);
    while (atomic_load_explicit(&serving, memory_order_acquire) != t) sched_yield();
    ticketed++;
    atomic_store_explicit(&serving, t + 1, memory_order_release);
    dsum += 0.5;
    int m = maxv;
    while (m < i * id && !atomic_compare_exchange_weak(&maxv, &m, i * id)) sched_yield();
    if (i > 20 && i < 480) i += 9;
  }
  return 0;
}
int main(void) {
  pthread_t t[4];
  int id[4];
  for (int i = 0; i < 4; i++) {
    id[i] = i + 1;
    pthread_create(&t[i], 0, work, &id[i]);
  }
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  printf("%ld %ld %ld %g %d %d\n", n, plain, ticketed, dsum, maxv, serving == next);
  return 0;
}
