// A thread of the program writes one half of the elements of a small block, and of a variable,
// while a region that writes the other half runs on the device: both keep what they wrote.
// env: OMP_NUM_THREADS=2
// flags: -pthread
#include "../check.h"
#include <pthread.h>
#include <stdlib.h>
enum { N = 3000, ROUNDS = 200 };
static unsigned char *block;
static short variable[N];
static int done, lost;
static void *writer(void *unused) {
  for (int round = 1; !__atomic_load_n(&done, __ATOMIC_ACQUIRE); round++) {
    for (long i = 1; i < N; i += 2) {
      ((volatile unsigned char *)block)[i] = round & 255;
      ((volatile short *)variable)[i] = round & 1023;
    }
    for (long i = 1; i < N; i += 2)
      lost += ((volatile unsigned char *)block)[i] != (round & 255) ||
              ((volatile short *)variable)[i] != (round & 1023);
  }
  return unused;
}
int main(void) {
  pthread_t thread;
  block = calloc(N, 1);
  pthread_create(&thread, NULL, writer, NULL);
  unsigned char *b = block;
  int wrong = 0;
  for (int round = 1; round <= ROUNDS; round++) {
#pragma omp parallel for
    for (long i = 0; i < N; i += 2) {
      b[i] += 3;
      variable[i] -= 1;
    }
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  for (long i = 0; i < N; i += 2)
    wrong += b[i] != (3 * ROUNDS & 255) || variable[i] != -ROUNDS;
  CHECK(lost == 0);
  CHECK(wrong == 0);
  DONE();
}
