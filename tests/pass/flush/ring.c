// OpenMP 5.2, section 1.4.4: a token goes around a ring of four threads by atomics with release and acquire order.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=50
#include "../../check.h"
int main(void) {
  int turn = 0, plain = 0;
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num(), n = omp_get_num_threads();
    for (int round = 0; round < 25; round++) {
      int t;
      SPIN_UNTIL(({ _Pragma("omp atomic read acquire") t = turn; t == round * n + me; }));
      CHECK(plain == t);
      plain++;
#pragma omp atomic write release
      turn = t + 1;
    }
  }
  CHECK(plain == 100);
  return DONE();
}
