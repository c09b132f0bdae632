// OpenMP 5.2, section 4.4.1: loop variables of every integer type, with bounds at the edges of the type.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define RUN(T, from, cond, step, want, schedule_) { \
    long n = 0; unsigned long sum = 0, serial = 0; \
    _Pragma(schedule_) \
    for (T i = from; cond; step) { n++; sum += (unsigned long)i; } \
    for (T i = from; cond; step) serial += (unsigned long)i; \
    CHECK(n == (want) && sum == serial); }
#define STATIC "omp parallel for num_threads(3) reduction(+ : n, sum)"
#define CHUNK "omp parallel for num_threads(3) schedule(static, 3) reduction(+ : n, sum)"
#define DYNAMIC "omp parallel for num_threads(3) schedule(dynamic, 2) reduction(+ : n, sum)"
#define ALL(T, from, cond, step, want) RUN(T, from, cond, step, want, STATIC) RUN(T, from, cond, step, want, CHUNK) RUN(T, from, cond, step, want, DYNAMIC)
int main(void) {
  ALL(signed char, -128, i < 120, i++, 248) ALL(unsigned char, 250, i > 3, i -= 2, 124)
  ALL(short, -32768, i < -32700, i += 7, 10) ALL(unsigned short, 65000, i < 65535, i++, 535)
  ALL(int, 2147483647, i > 2147483600, i--, 47) ALL(int, -2147483647 - 1, i < -2147483600, i++, 48)
  ALL(unsigned, 4294967290u, i > 4294967200u, i -= 9, 10) ALL(unsigned, 4294967200u, i < 4294967290u, i += 9, 10)
  ALL(long, 9223372036854775807L, i > 9223372036854775800L, i--, 7)
  ALL(unsigned long, 18446744073709551600ul, i < 18446744073709551610ul, i++, 10)
  ALL(long long, -9223372036854775807LL, i <= -9223372036854775800LL, i += 2, 4)
  return DONE();
}
