// libomp's KMP_LIBRARY=serial: every region has one thread; bad values warn once each, KMP_WARNINGS would silence them.
// stdout: ok
// env: KMP_LIBRARY=serial OMP_NUM_THREADS=4 OMP_TARGET_OFFLOAD=never OMP_DISPLAY_AFFINITY=2x
// stderr-has: OMP: Warning #42: OMP_TARGET_OFFLOAD="never" is not mandatory, disabled or default; using the default
// stderr-has: OMP: Warning #42: OMP_DISPLAY_AFFINITY="2x" is not true or false; using the default
#include "../../check.h"
int main(void) {
#pragma omp parallel num_threads(3)
  CHECK(omp_get_num_threads() == 1);
  CHECK(kmp_get_library() == 1);
  return DONE();
}
