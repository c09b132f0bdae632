// Conversions to bfloat that become calls of the compiler's runtime, from every type, rounded once.
// flags: --rtlib=compiler-rt --unwindlib=libgcc
#include <math.h>
#include <stdio.h>
#include <string.h>

static unsigned bits(__bf16 x) {
  unsigned short r;
  memcpy(&r, &x, 2);
  return r;
}

static volatile double doubles[] = {1.4140625, -0.0, 1.00390625, 1.01171875, 1.00390625000001, 3.39e38, 3.4e38, 3.5e38,
                                    9.2e-41, 4.5e-41, 4.6e-41, 1e-38, 1e-300, -1e300, 65535.5};
static volatile float floats[] = {1.4140625f, -0.0f, 1.00390625f, 3.39e38f, 1e-40f, 257.0f, 16777215.0f};

int main(void) {
  for (unsigned i = 0; i < sizeof doubles / sizeof *doubles; i++)
    printf("%04x ", bits((__bf16)doubles[i]));
  puts("");
  for (unsigned i = 0; i < sizeof floats / sizeof *floats; i++)
    printf("%04x %.6g ", bits((__bf16)floats[i]), (double)(float)(__bf16)floats[i]);
  puts("");
  volatile double infinite = INFINITY, none = NAN;
  printf("%04x %04x %d\n", bits((__bf16)infinite), bits((__bf16)-infinite), isnan((float)(__bf16)none));
  volatile int n = 257;
  volatile long long l = -1234567890123;
  printf("%04x %04x\n", bits((__bf16)n), bits((__bf16)l));
  __bf16 sum = 0;
  for (int i = 0; i < 50; i++)
    sum += (__bf16)(doubles[i % 5] * i);
  printf("%.6g\n", (double)(float)sum);
}
