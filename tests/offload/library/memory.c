// memcpy, memmove, memset and memcmp with run-time lengths, over memory of the device, of the team and of the stack.
#include "../../check.h"
int main(void) {
  unsigned char a[64], b[64], c[64];
  int n = 40, same = -1, differ = 0;
  for (int i = 0; i < 64; i++) a[i] = (unsigned char)i, b[i] = c[i] = 255;
#pragma omp target map(tofrom : a, b, c, same, differ) firstprivate(n)
  {
    unsigned char local[64];
    memset(local, 7, sizeof local);
    memcpy(local + 3, a, n);
    memcpy(b, local, 64);
    memmove(a + 5, a, n);
    same = memcmp(a + 5, local + 3, n);
    differ = memcmp(a, b, n);
    memset(c, n, n / 2);
  }
  CHECK(same == 0 && differ != 0);
  for (int i = 0; i < 64; i++) {
    CHECK(b[i] == (i < 3 || i >= 43 ? 7 : i - 3));
    CHECK(a[i] == (i < 5 || i >= 45 ? i : i - 5));
    CHECK(c[i] == (i < 20 ? 40 : 255));
  }
  return DONE();
}
