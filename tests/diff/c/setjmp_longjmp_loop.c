// longjmp used as a backward jump two thousand times, locals across it volatile, vla released.
#include <stdio.h>
#include <setjmp.h>
static jmp_buf jb;
__attribute__((noinline)) static void back(int k) {
  int a[k % 50 + 1];
  a[k % 50] = k;
  longjmp(jb, a[k % 50] + 1);
}
int main(void) {
  volatile unsigned h = 0;
  int k = setjmp(jb);
  h = h * 31 + (unsigned)k;
  if (k < 2000) back(k);
  printf("%d %u\n", k, h);
  return 0;
}
