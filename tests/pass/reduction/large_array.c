// OpenMP 5.2, section 5.5.8: a reduction over an array of 64 KiB, whose private copies are combined element by element.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
enum { N = 8192 };
static long counts[N];
int main(void) {
#pragma omp parallel for num_threads(3) reduction(+ : counts[:N])
  for (int i = 0; i < 2 * N; i++) counts[i % N] += i;
  for (int i = 0; i < N; i++) CHECK(counts[i] == 2L * i + N);
  return DONE();
}
