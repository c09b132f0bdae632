// OpenMP 5.2, section 4.4.4: ordered over a collapsed nest follows the nest's order.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int next = 0;
#pragma omp parallel for ordered collapse(2) num_threads(3) schedule(dynamic, 2)
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 5; j++) {
#pragma omp ordered
      CHECK(next++ == i * 5 + j);
    }
  CHECK(next == 35);
  return DONE();
}
