// no-sanitize: float conversion overflows on purpose
// fptrunc and fpext between half, float, double and long double, with rounding and overflow to infinity.
#include <stdio.h>
static volatile double d[] = {0.1,  1.0 + 1e-9,   65504.0,      65519.9, 65520.0, 1e-8,
                              6e-8, 3.4028235e38, 3.4028236e38, 1e-46,   -0.0,    1e300};
int main(void) {
  for (int i = 0; i < 12; i++) {
    double x = d[i];
    float f = (float)x;
    _Float16 h = (_Float16)x, hf = (_Float16)f;
    long double l = (long double)x / 3;
    printf("%a %a %a %a %a %La\n", x, f, (double)h, (float)hf, (double)l, l);
  }
  return 0;
}
