// OpenMP 5.2, section 15.2: critical, locks and atomics work in pthreads outside any region.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <pthread.h>
static long a, b, c; static omp_lock_t lock;
static void *body(void *arg) {
  for (int i = 0; i < 300; i++) {
#pragma omp critical(foreign)
    a++;
    omp_set_lock(&lock), b++, omp_unset_lock(&lock);
#pragma omp atomic
    c++;
  }
  return arg;
}
int main(void) {
  pthread_t t[3];
  omp_init_lock(&lock);
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, body, 0);
  body(0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  CHECK(a == 1200 && b == 1200 && c == 1200);
  return DONE();
}
