// A failing assert in a parallel loop prints its own message and aborts.
// levels: O0 O2
// signal: 6
// stderr-has: Assertion
// stderr-has: i < 9
#include <assert.h>
int main(void) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 10; i++) assert(i < 9);
  return 0;
}
