// OpenMP 5.2, section 5.5: min, max and products of float and double; infinities are the identities of min and max.
#include <math.h>
#include "../../check.h"
int main(void) {
  float fmin = INFINITY, fmax = -INFINITY, fprod = 1;
  double dmin = 1e300, dmax = -1e300, dprod = 1;
#pragma omp target teams distribute parallel for reduction(min : fmin, dmin) reduction(max : fmax, dmax) reduction(* : fprod, dprod)
  for (int i = 0; i < 1000; i++) {
    float f = (float)((i * 37) % 1000) - 400.5f;
    double d = -2.0 * f;
    fmin = f < fmin ? f : fmin, fmax = f > fmax ? f : fmax;
    dmin = d < dmin ? d : dmin, dmax = d > dmax ? d : dmax;
    if (i % 100 == 0) fprod *= 2, dprod *= 3;
  }
  CHECK(fmin == -400.5f && fmax == 598.5f && dmin == -1197.0 && dmax == 801.0);
  CHECK(fprod == 1024 && dprod == 59049);
  float none = -3;
#pragma omp target teams distribute parallel for reduction(max : none)
  for (int i = 0; i < 0; i++) none = 1000;
  CHECK(none == -3);
  return DONE();
}
