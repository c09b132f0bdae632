// exit: 3
// Label differences in a static table (blockaddress constant expressions) and label pointers passed around.
#include <stdio.h>
static int run(const unsigned char *p, int x) {
  static const int off[] = {&&l0 - &&l0, &&l1 - &&l0, &&l2 - &&l0, &&l3 - &&l0};
  int n = 0;
next:
  n++;
  goto *(&&l0 + off[*p++ & 3]);
l0:
  return x * 100 + n;
l1:
  x += 3;
  goto next;
l2:
  x *= 2;
  goto next;
l3:
  x ^= 5;
  goto next;
}
int main(void) {
  const unsigned char a[] = {1, 2, 3, 1, 2, 2, 0}, b[] = {3, 3, 3, 2, 0};
  volatile int x = 4;
  void *l;
  int k = 0;
  printf("%d %d\n", run(a, x), run(b, x));
again:
  l = k < 3 ? &&more : &&out;
  goto *l;
more:
  k++;
  goto again;
out:
  printf("%d\n", k);
  return k;
}
