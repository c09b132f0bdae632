// Concurrent regions of two threads of the program, on separate and on shared data.
#include "../check.h"
#include <pthread.h>
enum { N = 20000, ROUNDS = 30 };
static int *shared;
static void *work(void *argument) {
  long me = (long)argument;
  int *mine = calloc(N, sizeof(int));
  for (int r = 0; r < ROUNDS; r++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) mine[i] += shared[i];
    if (r % 10 == me) CHECK(mine[N - 1] == (r + 1) * 5);
  }
  for (int i = 0; i < N; i++) CHECK(mine[i] == 5 * ROUNDS);
  free(mine);
  return NULL;
}
int main(void) {
  shared = malloc(sizeof(int) * N);
  for (int i = 0; i < N; i++) shared[i] = 5;
  pthread_t t[2];
  for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  free(shared);
  return DONE();
}
