// OpenMP 5.2, section 15.8: atomics of all forms and sizes on the device.
#include "../../check.h"
int main(void) {
  int a = 0, c = 0, m = 0;
  long l = 0;
  float f = 0;
  double d = 0;
  unsigned short s = 0;
#pragma omp target teams distribute parallel for num_teams(4) map(tofrom : a, c, m, l, f, d, s)
  for (int i = 0; i < 400; i++) {
#pragma omp atomic
    a += 1;
#pragma omp atomic update
    l = l + i;
#pragma omp atomic
    f += 0.5f;
#pragma omp atomic
    d += i;
#pragma omp atomic
    s++;
    int old;
#pragma omp atomic capture
    { old = c; c += 2; }
    if (old == 798) {
#pragma omp atomic write
      m = 1;
    }
  }
  CHECK(a == 400 && l == 79800 && f == 200 && d == 79800 && s == 400 && c == 800 && m == 1);
  return DONE();
}
