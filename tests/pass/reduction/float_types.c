// OpenMP 5.2, section 5.5.8: +, *, min and max over float, double and long double; the values make every order exact.
// stdout: ok
// levels: O0 O2
// flags: -latomic
#include "../../check.h"
#define TYPE(T) { \
    T sum = 0.5, product = 1, lo = 100, hi = -100; \
    _Pragma("omp parallel for num_threads(4) reduction(+ : sum) reduction(* : product) reduction(min : lo) reduction(max : hi)") \
    for (int i = -20; i <= 20; i++) { T x = i * (T)0.25; sum += x + 1; product *= i % 2 ? (T)2 : (T)1; if (x < lo) lo = x; if (x > hi) hi = x; } \
    CHECK(sum == (T)41.5 && product == (T)(1 << 20) && lo == (T)-5 && hi == (T)5); }
int main(void) {
  TYPE(float) TYPE(double) TYPE(long double)
  return DONE();
}
