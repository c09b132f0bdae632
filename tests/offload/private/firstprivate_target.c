// OpenMP 5.2, section 5.4.4: firstprivate of the target construct: scalars of every size, pointers, and arrays; nothing comes back.
#include "../../check.h"
int main(void) {
  char c = -3;
  short s = 300;
  long long l = 1LL << 40;
  float f = 1.5f;
  double d = -2.25;
  _Bool t = 1;
  int v[3] = {7, 8, 9}, ok = 0, *dev = omp_target_alloc(16, omp_get_default_device());
#pragma omp target firstprivate(c, s, l, f, d, t, v, dev) map(from : ok)
  {
    ok = c == -3 && s == 300 && l == 1LL << 40 && f == 1.5f && d == -2.25 && t && v[0] + v[1] + v[2] == 24;
    c = 0, s = 0, l = 0, f = 0, d = 0, t = 0, v[1] = 0;
    dev[2] = 5;
  }
  CHECK(ok == 1 && c == -3 && s == 300 && l == 1LL << 40 && f == 1.5f && d == -2.25 && t && v[1] == 8);
  int back = 0;
  omp_target_memcpy(&back, dev, 4, 0, 8, omp_get_initial_device(), omp_get_default_device());
  CHECK(back == 5);
  omp_target_free(dev, omp_get_default_device());
  return DONE();
}
