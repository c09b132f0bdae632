// OpenMP 5.2, section 5.4.3: private variables of a region.
#include "../../check.h"
int main(void) {
  int x = 7, v[3] = {7, 7, 7}, out = 0;
#pragma omp target private(x, v) map(tofrom : out)
  {
    x = 1;
    for (int i = 0; i < 3; i++) v[i] = i;
    out = x + v[2];
  }
  CHECK(out == 3 && x == 7 && v[0] == 7);
  return DONE();
}
