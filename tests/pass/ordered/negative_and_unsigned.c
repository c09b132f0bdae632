// OpenMP 5.2, section 15.10.2: ordered loops that count down, with 64-bit and unsigned variables, printing in order.
// levels: O0 O2
// stdout: 9 7 5 3 1
// stdout: 0 4 8
// stdout: ok
#include "../../check.h"
int main(void) {
#pragma omp parallel for ordered num_threads(3) schedule(dynamic)
  for (long i = 9; i > 0; i -= 2) {
#pragma omp ordered
    printf(i > 1 ? "%ld " : "%ld\n", i);
  }
#pragma omp parallel for ordered num_threads(2) schedule(static, 1)
  for (unsigned char i = 0; i < 12; i += 4) {
#pragma omp ordered
    printf(i < 8 ? "%d " : "%d\n", i);
  }
  return DONE();
}
