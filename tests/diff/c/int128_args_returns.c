// exit: 2
// __int128 as argument (registers and stack), return value, struct member and array element.
#include <stdio.h>
typedef __int128 i128;
struct s {
  char c;
  i128 v;
};
__attribute__((noinline)) static i128 add(i128 a, int k, i128 b, i128 c, i128 d) { return a + b * k - c + d; }
__attribute__((noinline)) static struct s mk(i128 v, char c) {
  struct s r = {c, v};
  return r;
}
static i128 (*volatile fp)(i128, int, i128, i128, i128) = add;
int main(void) {
  i128 big = (i128)1 << 100;
  i128 r = fp(big, 3, big >> 1, 5, -7);
  struct s s = mk(r, 'x');
  i128 arr[3] = {r, -r, r / 3};
  printf("%llx %llx %c %zu %zu\n", (unsigned long long)(s.v >> 64), (unsigned long long)s.v, s.c, sizeof s,
         _Alignof(struct s));
  for (int i = 0; i < 3; i++) printf("%llx %llx\n", (unsigned long long)(arr[i] >> 64), (unsigned long long)arr[i]);
  return (int)(r >> 100);
}
