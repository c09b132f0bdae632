// OpenMP 5.2, section 15.8.4: update, read, write and capture of every type, by many teams.
#include "../../check.h"
#define TEST(T, NAME)                                                                    \
  static void NAME(void) {                                                               \
    T sum = 0, product = 1, old = 0, top = 0, copy = 0;                                  \
    int seen[100] = {0};                                                                 \
    _Pragma("omp target teams distribute parallel for map(tofrom : sum, product, old, top, copy, seen)") \
    for (int i = 0; i < 100; i++) {                                                      \
      T mine;                                                                            \
      _Pragma("omp atomic update")                                                       \
      sum += 1;                                                                          \
      if (i % 25 == 0) {                                                                 \
        _Pragma("omp atomic update")                                                     \
        product *= 2;                                                                    \
      }                                                                                  \
      _Pragma("omp atomic capture")                                                      \
      { mine = top; top = top + 1; }                                                     \
      _Pragma("omp atomic")                                                              \
      seen[(int)mine]++;                                                                 \
      _Pragma("omp atomic write")                                                        \
      copy = 9;                                                                          \
      _Pragma("omp atomic read")                                                         \
      mine = copy;                                                                       \
      _Pragma("omp atomic capture")                                                      \
      mine = old -= 1;                                                                   \
    }                                                                                    \
    CHECK(sum == 100 && product == 16 && top == 100 && copy == 9 && old == (T)-100);     \
    for (int i = 0; i < 100; i++) CHECK(seen[i] == 1);                                   \
  }
TEST(signed char, c) TEST(unsigned char, uc) TEST(short, s) TEST(int, i) TEST(unsigned, u) TEST(long, l)
TEST(unsigned long, ul) TEST(float, f)
TEST(double, d)
int main(void) {
  c(), uc(), s(), i(), u(), l(), ul(), f(), d();
  return DONE();
}
