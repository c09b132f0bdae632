// __bf16 storage and arithmetic through float, with truncation and rounding.
#include <stdio.h>
#include <string.h>
// The native back end calls this helper, which older libgcc lacks; under the interpreter fptrunc is an instruction.
__attribute__((used)) __bf16 __truncsfbf2(float x) {
  unsigned u;
  memcpy(&u, &x, 4);
  u = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  unsigned short h = (unsigned short)u;
  __bf16 r;
  memcpy(&r, &h, 2);
  return r;
}
static unsigned bits(__bf16 x) {
  unsigned short u;
  memcpy(&u, &x, 2);
  return u;
}
static volatile float v[] = {0.0f, 1.0f, -2.5f, 0.1f, 1e38f, 3.0e-39f, 257.0f, 3.14159f};
struct s {
  __bf16 a[3];
  char c;
};
__attribute__((noinline)) static __bf16 f(__bf16 a, struct s s) { return a * s.a[1] + s.a[2]; }
int main(void) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      __bf16 a = (__bf16)v[i], b = (__bf16)v[j];
      struct s s = {{a, b, (__bf16)2.0f}, 'x'};
      printf("%04x %04x %04x %04x %d%d %04x\n", bits(a), bits(a + b), bits(a * b), bits(a - b), a < b, a == b,
             bits(f(b, s)));
    }
  return 0;
}
