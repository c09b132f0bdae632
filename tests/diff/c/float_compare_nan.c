// Every floating comparison, ordered and unordered, at float, double and long double.
#include <stdio.h>
#include <math.h>
#define CMP(T)                                                                                                         \
  do {                                                                                                                 \
    static volatile T v[] = {0.0, -0.0, 1.5, -3, (T)INFINITY, -(T)INFINITY, (T)NAN};                                   \
    printf(#T " ");                                                                                                    \
    for (int i = 0; i < 7; i++)                                                                                        \
      for (int j = 0; j < 7; j++) {                                                                                    \
        T a = v[i], b = v[j];                                                                                          \
        int m = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 |               \
                !(a < b) << 6 | (!(a >= b)) << 7 | (isunordered(a, b) != 0) << 8 | (islessgreater(a, b) != 0) << 9 |   \
                (isless(a, b) != 0) << 10 | !(a == b) << 11;                                                           \
        printf("%03x", m);                                                                                             \
      }                                                                                                                \
    puts("");                                                                                                          \
  } while (0)
int main(void) {
  CMP(float);
  CMP(double);
  CMP(long double);
  return 0;
}
