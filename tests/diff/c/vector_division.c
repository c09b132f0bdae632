// Quotients and remainders of integer vectors of every width, with and without sign, also of lengths that do not fill a
// word, with divisors of each lane and one for all.
#include <stdio.h>
#define CASE(T, N, name, format)                                                    \
  typedef T name __attribute__((vector_size(sizeof(T) * N)));                       \
  __attribute__((noinline)) static void test_##name(name a, name b, T s) {          \
    name q = a / b, r = a % b, t = a / s, u = a % s;                                \
    for (int i = 0; i < N; i++) printf(format, q[i], r[i], t[i], u[i]);             \
    puts("");                                                                       \
  }                                                                                 \
  static void run_##name(void) {                                                    \
    name a, b;                                                                      \
    for (int i = 0; i < N; i++) a[i] = (T)(i * 37 - 50), b[i] = (T)(i % 5 - 7 + i); \
    for (int i = 0; i < N; i++) if (!b[i]) b[i] = 3;                                \
    test_##name(a, b, (T)-3);                                                       \
    test_##name(b, a, (T)7);                                                        \
  }
CASE(signed char, 4, s8x4, "%d %d %d %d ")
CASE(unsigned char, 16, u8x16, "%u %u %u %u ")
CASE(short, 2, s16x2, "%d %d %d %d ")
CASE(unsigned short, 8, u16x8, "%u %u %u %u ")
CASE(int, 2, s32x2, "%d %d %d %d ")
CASE(unsigned, 4, u32x4, "%u %u %u %u ")
CASE(long, 2, s64x2, "%ld %ld %ld %ld ")
CASE(unsigned long, 4, u64x4, "%lu %lu %lu %lu ")
int main(void) {
  run_s8x4(), run_u8x16(), run_s16x2(), run_u16x8();
  run_s32x2(), run_u32x4(), run_s64x2(), run_u64x4();
  // Benchmarks fill their arrays this way, and clang vectorizes it.
  static double field[40][40];
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++) field[i][j] = (double)((i * j + 1) % 40) / 40 + (i - j) % 7;
  double sum = 0;
  for (int i = 0; i < 1600; i++) sum = sum * 0.99 + field[i / 40][i % 40];
  printf("%.12g\n", sum);
  return 0;
}
