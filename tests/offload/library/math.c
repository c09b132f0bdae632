// Mathematics in a region agrees with the host's.
// flags: -lm
#include <math.h>
#include "../../check.h"
int main(void) {
  double x[50], y[50];
  float f[50];
  for (int i = 0; i < 50; i++) x[i] = 0.1 + i * 0.3, y[i] = 0, f[i] = 0;
#pragma omp target teams distribute parallel for map(to : x) map(from : y, f)
  for (int i = 0; i < 50; i++) {
    y[i] = sin(x[i]) + exp(-x[i]) * log(x[i]) + pow(x[i], 1.5) + sqrt(x[i]) + fabs(-x[i]) + floor(x[i]);
    f[i] = sinf((float)x[i]) + expf(-(float)x[i]) + fmaxf((float)x[i], 2.0f);
  }
  for (int i = 0; i < 50; i++) {
    double e = sin(x[i]) + exp(-x[i]) * log(x[i]) + pow(x[i], 1.5) + sqrt(x[i]) + fabs(-x[i]) + floor(x[i]);
    float g = sinf((float)x[i]) + expf(-(float)x[i]) + fmaxf((float)x[i], 2.0f);
    CHECK(fabs(y[i] - e) < 1e-9 && fabsf(f[i] - g) < 1e-4f);
  }
  return DONE();
}
