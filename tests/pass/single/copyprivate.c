// OpenMP 5.2, section 5.7.2: copyprivate broadcasts private scalars, arrays and pointers of the executing thread.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  static int target = 77;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 20; round++) {
    int x = -1, v[10] = {0}, *p = 0; double d = 0; struct { char c; long l; } s = {0, 0};
#pragma omp single copyprivate(x, v, p, d, s)
    {
      x = round, d = round * 0.5, p = &target, s.c = 'c', s.l = round;
      for (int i = 0; i < 10; i++) v[i] = i + round;
    }
    CHECK(x == round && d == round * 0.5 && *p == 77 && s.c == 'c' && s.l == round && v[0] == round && v[9] == 9 + round);
  }
  return DONE();
}
