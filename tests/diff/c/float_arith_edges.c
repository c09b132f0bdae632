// no-sanitize: divides floats by zero
// float and double arithmetic with infinities, NaN, signed zero and denormals.
#include <stdio.h>
#include <string.h>
#include <stdint.h>
static uint32_t fb(float x) {
  uint32_t u;
  if (x != x) return 0x7fc00000;
  memcpy(&u, &x, 4);
  return u;
}
static uint64_t db(double x) {
  uint64_t u;
  if (x != x) return 0x7ff8;
  memcpy(&u, &x, 8);
  return u;
}
static volatile float f[] = {0.0f,
                             -0.0f,
                             1.0f,
                             -2.5f,
                             1e-45f,
                             1.17549435e-38f,
                             3.4e38f,
                             __builtin_inff(),
                             -__builtin_inff(),
                             __builtin_nanf("")};
static volatile double d[] = {0.0,
                              -0.0,
                              1.0,
                              0.1,
                              4.9e-324,
                              2.2250738585072014e-308,
                              1.7e308,
                              __builtin_inf(),
                              -__builtin_inf(),
                              __builtin_nan("")};
int main(void) {
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++) {
      float a = f[i], b = f[j];
      double x = d[i], y = d[j];
      printf("%x %x %x %x %llx %llx %llx %llx\n", fb(a + b), fb(a - b), fb(a * b), fb(a / b),
             (unsigned long long)db(x + y), (unsigned long long)db(x - y), (unsigned long long)db(x * y),
             (unsigned long long)db(x / y));
    }
  return 0;
}
