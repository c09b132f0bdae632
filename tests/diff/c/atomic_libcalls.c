// flags: -Wno-atomic-alignment -latomic
// Atomics that go through libatomic: structs of odd sizes and 16 bytes without cx16.
#include <stdio.h>
#include <stdatomic.h>
struct s3 {
  char a, b, c;
};
struct s24 {
  long a, b, c;
};
struct s16 {
  long a, b;
};
static _Atomic struct s3 x;
static _Atomic struct s24 y;
static _Atomic struct s16 z;
int main(void) {
  struct s3 a = {1, 2, 3}, b;
  atomic_store(&x, a);
  b = atomic_exchange(&x, ((struct s3){4, 5, 6}));
  a = atomic_load(&x);
  printf("%d%d%d %d%d%d\n", b.a, b.b, b.c, a.a, a.b, a.c);
  struct s24 c = {10, 20, 30}, d;
  atomic_store(&y, c);
  d = atomic_load(&y);
  c.b++;
  d = atomic_exchange(&y, c);
  c = atomic_load(&y);
  printf("%ld %ld %ld %ld\n", d.a, d.b, d.c, c.b);
  struct s16 e = {7, 8}, f = {0, 0};
  atomic_store(&z, e);
  int r = atomic_compare_exchange_strong(&z, &f, ((struct s16){1, 1}));
  printf("%d %ld %ld ", r, f.a, f.b);
  r = atomic_compare_exchange_strong(&z, &f, ((struct s16){1, 2}));
  f = z;
  printf("%d %ld %ld\n", r, f.a, f.b);
  return 0;
}
