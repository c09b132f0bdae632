// exit: 77
// _BitInt values in structs, arrays and as arguments and results.
#include <stdio.h>
struct s {
  _BitInt(24) a;
  unsigned _BitInt(7) b;
  _BitInt(77) c;
};
__attribute__((noinline)) static _BitInt(24) f(_BitInt(24) x, unsigned _BitInt(7) y, _BitInt(77) z) {
  return (_BitInt(24))(x + y - (_BitInt(24))z);
}
static _BitInt(24) (*volatile fp)(_BitInt(24), unsigned _BitInt(7), _BitInt(77)) = f;
int main(void) {
  volatile int k = 5;
  struct s s = {(_BitInt(24))(-1000 * k), (unsigned _BitInt(7))(200 + k), (_BitInt(77))k << 70};
  _BitInt(24) arr[5];
  for (int i = 0; i < 5; i++) arr[i] = fp(s.a, s.b, (_BitInt(77))i * 7);
  for (int i = 0; i < 5; i++) printf("%d ", (int)arr[i]);
  printf("%d %d %lld %zu %zu\n", (int)s.a, (int)s.b, (long long)(s.c >> 66), sizeof s, sizeof arr);
  return (int)s.b;
}
