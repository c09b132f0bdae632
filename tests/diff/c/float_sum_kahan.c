// Plain and Kahan summation: exactly rounded operations whose order must be kept.
#include <stdio.h>
int main(void) {
  volatile double step = 0.1;
  float s = 0, k = 0, c = 0;
  double ds = 0;
  for (int i = 0; i < 20000; i++) {
    float x = (float)(step * (i % 17));
    s += x;
    ds += x;
    float y = x - c, t = k + y;
    c = (t - k) - y;
    k = t;
  }
  printf("%a %a %a\n", s, k, ds);
  double h = 0;
  for (int i = 1; i < 5000; i++) h += 1.0 / i;
  printf("%a\n", h);
  return 0;
}
