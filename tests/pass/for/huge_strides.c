// OpenMP 5.2, section 4.4.1: strides so large that a runtime which steps the variable past the end would overflow it.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define RUN(T, from, cond, step, want) { \
    int n = 0; \
    _Pragma("omp parallel for num_threads(4) reduction(+ : n)") \
    for (T i = from; cond; step) n++; \
    CHECK(n == want); n = 0; \
    _Pragma("omp parallel for num_threads(4) schedule(dynamic) reduction(+ : n)") \
    for (T i = from; cond; step) n++; \
    CHECK(n == want); n = 0; \
    _Pragma("omp parallel for num_threads(4) schedule(static, 1) reduction(+ : n)") \
    for (T i = from; cond; step) n++; \
    CHECK(n == want); }
int main(void) {
  RUN(int, -1500000000, i < 1400000000, i += 1000000000, 3)
  RUN(unsigned, 0, i < 3000000000u, i += 1100000000u, 3)
  RUN(int, 1500000000, i >= -1500000000, i -= 1100000000, 3)
  RUN(long, -7000000000000000000L, i < 7000000000000000000L, i += 4000000000000000000L, 4)
  RUN(unsigned long, 1, i < 14000000000000000000ul, i += 4000000000000000000ul, 4)
  RUN(int, 5, i < 6, i += 2147483647, 1)
  return DONE();
}
