// OpenMP 5.2, section 15.8.4: atomic read and write never tear: both halves of each value agree.
// stdout: ok
// levels: O0 O2
// flags: -latomic
#include "../../check.h"
int main(void) {
  unsigned long pair = 0; double d = 0; long double wide = 0; short s = 0;
#pragma omp parallel num_threads(4)
  for (unsigned long i = 0; i < 300; i++) {
    unsigned long p, v = i << 32 | i; double e; long double w; short t;
#pragma omp atomic write
    pair = v;
#pragma omp atomic read
    p = pair;
    CHECK(p >> 32 == (p & 0xffffffff));
#pragma omp atomic write
    d = (double)i;
#pragma omp atomic read
    e = d;
    CHECK(e >= 0 && e < 300 && e == (int)e);
#pragma omp atomic write
    wide = i % 2 ? 0x1p100L : -0x1p-100L;
#pragma omp atomic read
    w = wide;
    CHECK(w == 0 || w == 0x1p100L || w == -0x1p-100L);
#pragma omp atomic write
    s = (short)((i & 255) * 257);
#pragma omp atomic read
    t = s;
    CHECK((t & 0xff) == (t >> 8 & 0xff));
  }
  return DONE();
}
