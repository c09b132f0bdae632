// Volatile accesses of all widths, restrict, nontemporal builtins, prefetch.
#include <stdio.h>
static void add(int *restrict a, const int *restrict b, int n) {
  for (int i = 0; i < n; i++) a[i] += b[i] * 2;
}
int main(void) {
  volatile char c = 1;
  volatile short s = 2;
  volatile int i = 3;
  volatile long l = 4;
  volatile float f = 5;
  volatile double d = 6;
  volatile long double e = 7;
  volatile struct {
    int x;
    char y;
  } st = {8, 9};
  c += s;
  s *= i;
  i -= l;
  l <<= 2;
  f /= 2;
  d += f;
  e *= d;
  st.x += st.y;
  int a[20], b[20];
  for (int k = 0; k < 20; k++) {
    a[k] = k;
    b[k] = k * k;
  }
  add(a, b, 20);
  __builtin_prefetch(a, 0, 3);
  __builtin_prefetch(b, 1);
  __builtin_nontemporal_store(55, &a[3]);
  printf("%d %d %d %ld %g %g %Lg %d %d %d %d\n", c, s, i, l, f, d, e, st.x, a[19], __builtin_nontemporal_load(&a[3]),
         a[4]);
  return 0;
}
