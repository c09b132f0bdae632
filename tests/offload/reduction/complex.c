// OpenMP 5.2, section 5.5: sums and products of complex numbers.
#include <complex.h>
#include "../../check.h"
int main(void) {
  double _Complex sum = 1 + 2 * I;
  float _Complex product = 1;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 200; i++) sum += i - i * I;
  CHECK(creal(sum) == 1 + 19900 && cimag(sum) == 2 - 19900);
#pragma omp target parallel for reduction(* : product) num_threads(16)
  for (int i = 0; i < 7; i++) product *= I;
  CHECK(crealf(product) == 0 && cimagf(product) == -1);
  return DONE();
}
