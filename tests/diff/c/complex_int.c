// GNU complex integers and complex compound assignment.
#include <stdio.h>
int main(void) {
  volatile int k = 4;
  __complex__ int a = k + 3i, b = 2 - 1i;
  a *= b;
  __complex__ int c = a + b, d = a - 5, e = ~a;
  printf("%d %d %d %d %d %d %d %d\n", __real__ a, __imag__ a, __real__ c, __imag__ c, __real__ d, __imag__ d,
         __real__ e, __imag__ e);
  __complex__ long long q[3] = {a, b, 1};
  q[1] += q[0] * q[2];
  printf("%lld %lld %d %d\n", __real__ q[1], __imag__ q[1], q[1] == q[0], !q[2]);
  return 0;
}
