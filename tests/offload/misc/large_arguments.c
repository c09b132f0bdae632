// A region with many captured variables of different sizes, more than a kernel's registers hold, in SPMD and generic form.
#include "../../check.h"
struct big { long v[50]; };
int main(void) {
  char a = 1; short b = 2; int c = 3; long d = 4; float e = 5; double f = 6; struct big g; int h[30];
  unsigned char i8 = 7; unsigned short j8 = 8; unsigned k8 = 9; long long l8 = 10; int out[8] = {0};
  for (int i = 0; i < 50; i++) g.v[i] = i;
  for (int i = 0; i < 30; i++) h[i] = 100 * i;
#pragma omp target teams distribute parallel for firstprivate(a, b, c, d, e, f, g, h, i8, j8, k8, l8) map(tofrom : out)
  for (int i = 0; i < 8; i++) out[i] = a + b + c + (int)d + (int)e + (int)f + (int)g.v[i] + h[i] + i8 + j8 + (int)k8 + (int)l8;
  for (int i = 0; i < 8; i++) CHECK(out[i] == 55 + 101 * i);
#pragma omp target map(to : g, h) firstprivate(a, b, c, d, e, f, i8, j8, k8, l8) map(tofrom : out)
  {
    a++;
#pragma omp parallel for num_threads(8)
    for (int i = 0; i < 8; i++) out[i] -= a + b + c + (int)d + (int)e + (int)f + (int)g.v[i] + h[i] + i8 + j8 + (int)k8 + (int)l8;
  }
  for (int i = 0; i < 8; i++) CHECK(out[i] == -1);
  return DONE();
}
