// exit(6) in a single construct while the team waits at its barrier.
// levels: O0 O2
// exit: 6
#include <stdlib.h>
int main(void) {
#pragma omp parallel num_threads(4)
#pragma omp single
  exit(6);
  return 0;
}
