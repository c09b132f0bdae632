// Mapped data keeps the alignment that it has on the host.
#include "../../check.h"
typedef struct { _Alignas(64) double a[8]; } Line;
int main(void) {
  Line v[3] = {{{0}}};
  long bad = -1;
#pragma omp target map(tofrom : v) map(from : bad)
  {
    bad = (long)&v[1] & 63;
    v[2].a[7] = 1;
  }
  CHECK(bad == 0 && v[2].a[7] == 1);
  return DONE();
}
