// isnan, isinf, isfinite, isnormal, signbit, fpclassify at three precisions.
#include <stdio.h>
#include <math.h>
#define ALL(T)                                                                                                         \
  do {                                                                                                                 \
    static volatile T v[] = {0, -0.0f, 1, (T)1e-42, (T)INFINITY, -(T)INFINITY, (T)NAN, (T)1.5e-39};                    \
    for (int i = 0; i < 8; i++) {                                                                                      \
      T x = v[i];                                                                                                      \
      printf("%d%d%d%d%d ", !!isnan(x), !!isinf(x), !!isfinite(x), !!isnormal(x), !!signbit(x));                       \
      int c = fpclassify(x);                                                                                           \
      printf("%c ", c == FP_NAN ? 'n' : c == FP_INFINITE ? 'i' : c == FP_ZERO ? 'z' : c == FP_SUBNORMAL ? 's' : 'N');  \
      printf("%d%d | ", __builtin_isfpclass(x, 0x0003) != 0, __builtin_isfpclass(x, 0x0198) != 0);                     \
    }                                                                                                                  \
    puts("");                                                                                                          \
  } while (0)
int main(void) {
  ALL(float);
  ALL(double);
  ALL(long double);
  return 0;
}
