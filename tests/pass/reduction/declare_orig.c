// OpenMP 5.2, section 5.5.11: the initializer may read omp_orig, and one name serves several types.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#pragma omp declare reduction(mod : int, long : omp_out = (omp_out + omp_in) % 1009) initializer(omp_priv = omp_orig - omp_orig)
int main(void) {
  int a = 5; long b = 7;
#pragma omp parallel for num_threads(3) reduction(mod : a, b)
  for (int i = 0; i < 400; i++) a = (a + i) % 1009, b = (b + 3 * i) % 1009;
  CHECK(a == (5 + 399 * 200) % 1009 && b == (7 + 3 * 399 * 200) % 1009);
  return DONE();
}
