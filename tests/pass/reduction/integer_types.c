// OpenMP 5.2, section 5.5.8: sum, minimum and maximum in every integer type from char to unsigned __int128.
// stdout: ok
// levels: O0 O2
// flags: -latomic
#include "../../check.h"
#define TYPE(T, lowest, highest) { \
    T s = 1, lo = (T)3, hi = (T)3; \
    _Pragma("omp parallel for num_threads(3) reduction(+ : s) reduction(min : lo) reduction(max : hi)") \
    for (int i = 0; i < 10; i++) { s += (T)i; T x = i == 4 ? (T)(lowest) : i == 7 ? (T)(highest) : (T)5; if (x < lo) lo = x; if (x > hi) hi = x; } \
    CHECK(s == (T)46 && lo == (T)(lowest) && hi == (T)(highest)); }
int main(void) {
  TYPE(signed char, -128, 127) TYPE(unsigned char, 0, 255) TYPE(short, -32768, 32767) TYPE(unsigned short, 0, 65535)
  TYPE(int, -2147483647 - 1, 2147483647) TYPE(unsigned, 0, 4294967295u)
  TYPE(long, -9223372036854775807L - 1, 9223372036854775807L) TYPE(unsigned long long, 0, 18446744073709551615ull)
  TYPE(__int128, -((__int128)1 << 100), (__int128)1 << 100) TYPE(unsigned __int128, 0, (unsigned __int128)1 << 127)
  return DONE();
}
