// OpenMP 5.2, section 5.5: every operation over integers of every width, over teams and threads.
#include "../../check.h"
#define ALL(T, NAME)                                                                                     \
  static void NAME(void) {                                                                               \
    T add = 3, sub = 0, and_ = (T)~(T)0, or_ = 0, xor_ = 1, min = 100, max = 0;                          \
    _Pragma("omp target teams distribute parallel for reduction(+ : add) reduction(- : sub) reduction(& : and_) \
             reduction(| : or_) reduction(^ : xor_) reduction(min : min) reduction(max : max)")          \
    for (int i = 0; i < 50; i++) {                                                                       \
      add += 2, sub += 1, and_ &= (T)(~(T)0 ^ (T)(1 << i % 5)), or_ |= (T)(1 << i % 6), xor_ ^= (T)i;    \
      if (((i * 7) % 50) + 3 < min) min = (T)((i * 7) % 50 + 3);                                         \
      if (((i * 11) % 50) + 9 > max) max = (T)((i * 11) % 50 + 9);                                       \
    }                                                                                                    \
    T x = 1;                                                                                             \
    for (int i = 0; i < 50; i++) x ^= (T)i;                                                              \
    CHECK(add == (T)103 && sub == (T)50 && and_ == (T)(~(T)0 ^ (T)31) && or_ == 63 && xor_ == x);        \
    CHECK(min == 3 && max == 58);                                                                        \
  }
ALL(signed char, c) ALL(unsigned char, uc) ALL(short, s) ALL(unsigned short, us) ALL(int, i) ALL(unsigned, u)
ALL(long, l) ALL(unsigned long, ul)
int main(void) {
  c(), uc(), s(), us(), i(), u(), l(), ul();
  return DONE();
}
