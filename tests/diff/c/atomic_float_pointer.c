// no-sanitize: the atomic char wraps
// flags: -latomic
// Atomic float, double, pointer and bool; compound assignment through compare-exchange loops.
#include <stdio.h>
#include <stdatomic.h>
#include <stdbool.h>
static _Atomic float f = 1.5f;
static _Atomic double d = 10;
static _Atomic(int *) p;
static atomic_bool b;
static _Atomic char c = 'a';
static _Atomic long double ld = 2;
static int arr[10];
int main(void) {
  f += 2;
  f *= 3;
  float old = f--;
  d /= 4;
  d -= 0.25;
  p = arr;
  p++;
  atomic_fetch_add(&p, 3);
  int *q = atomic_fetch_add(&p, 2);
  int *r = atomic_fetch_sub(&p, 1);
  atomic_store(&b, 7);
  bool o = atomic_exchange(&b, false);
  c += 300;
  c ^= 1;
  c <<= 1;
  ld *= 1.5L;
  printf("%g %g %g %td %td %td %d %d %d %Lg\n", (double)f, old, d, q - arr, r - arr, p - arr, o, b, c, ld);
  double g = 1;
  __atomic_fetch_add(&g, 2.5, __ATOMIC_SEQ_CST);
  __atomic_fetch_sub(&g, 0.5, __ATOMIC_RELAXED);
  float h = 2;
  float i = __atomic_fetch_add(&h, 0.5f, __ATOMIC_SEQ_CST);
  printf("%g %g %g\n", g, h, i);
  return 0;
}
