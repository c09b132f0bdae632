// OpenMP 5.2, section 5.5.8: + and * over complex float, double and long double.
// stdout: ok
// levels: O0 O2
// flags: -latomic
#include "../../check.h"
#include <complex.h>
#define TYPE(T, imag) { \
    T complex sum = 1, product = 1; \
    _Pragma("omp parallel for num_threads(3) reduction(+ : sum) reduction(* : product)") \
    for (int i = 0; i < 16; i++) { sum += i - 2 * i * I; product *= I; } \
    CHECK(sum == 121 - 240 * I && product == 1); }
int main(void) {
  TYPE(float, crealf) TYPE(double, creal) TYPE(long double, creall)
  return DONE();
}
