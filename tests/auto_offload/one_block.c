// Threads that use different parts of one block: one copies to and from a device by itself, the other runs loops, whose
// device gets the whole block. A copy must not fault in the driver, since bringing the page back needs the driver, too.
#include "../check.h"
#include <omp.h>
#include <pthread.h>
enum { N = 200000, ROUNDS = 60 };
static struct {
  int mapped[N], plain[N];
} both;
static void *move(void *unused) {
  int *on_device = omp_target_alloc(sizeof both.mapped, omp_get_default_device());
#pragma omp target enter data map(to : both.mapped)
  for (int r = 0; r < ROUNDS; r++) {
#pragma omp target
    both.mapped[r]++;
#pragma omp target update from(both.mapped)
    CHECK(both.mapped[r] == 1);
    both.mapped[N - 1 - r] = r;
#pragma omp target update to(both.mapped)
    int host = omp_get_initial_device(), device = omp_get_default_device();
    CHECK(omp_target_memcpy(on_device, both.mapped, sizeof both.mapped, 0, 0, device, host) == 0);
    CHECK(omp_target_memcpy(both.mapped, on_device, sizeof both.mapped, 0, 0, host, device) == 0);
  }
#pragma omp target exit data map(from : both.mapped)
  omp_target_free(on_device, omp_get_default_device());
  return unused;
}
int main(void) {
  pthread_t mover;
  pthread_create(&mover, NULL, move, NULL);
  for (int r = 0; r < ROUNDS; r++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) both.plain[i] += i;
  }
  pthread_join(mover, NULL);
  for (int i = 0; i < N; i++) CHECK(both.plain[i] == ROUNDS * i);
  for (int r = 0; r < ROUNDS; r++) CHECK(both.mapped[r] == 1 && both.mapped[N - 1 - r] == r);
  return DONE();
}
