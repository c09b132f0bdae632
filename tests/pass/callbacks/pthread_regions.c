// Section 1.3: threads made by pthread_create fork teams of their own, at once, each as thread 0.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <pthread.h>
static long sums[3];
static void *body(void *arg) {
  long which = (long)arg, sum = 0;
  CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && omp_get_level() == 0);
  for (int round = 0; round < 20; round++) {
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += i * (which + 1);
  }
  sums[which] = sum;
  return (void *)(which + 100);
}
int main(void) {
  pthread_t t[3]; void *result;
  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, body, (void *)i);
  for (long i = 0; i < 3; i++) { pthread_join(t[i], &result); CHECK((long)result == i + 100); }
  for (long i = 0; i < 3; i++) CHECK(sums[i] == 20 * 4950 * (i + 1));
  return DONE();
}
