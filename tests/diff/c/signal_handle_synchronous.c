// no-sanitize: divides by zero on purpose
// exit: 24
// SIGILL, SIGFPE and SIGBUS raised by hand, handled and returned from; SIGFPE of a division left by siglongjmp.
#include <stdio.h>
#include <signal.h>
#include <setjmp.h>
static volatile int seen;
static sigjmp_buf jb;
static void h(int s) { seen = seen * 100 + s; }
static void j(int s) { siglongjmp(jb, s); }
__attribute__((noinline)) static int dv(int a, int b) { return a / b; }
int main(void) {
  signal(SIGILL, h);
  signal(SIGBUS, h);
  signal(SIGFPE, h);
  raise(SIGILL);
  raise(SIGBUS);
  raise(SIGFPE);
  printf("%d\n", seen);
  signal(SIGFPE, j);
  volatile int z = 0, n = 0;
  for (volatile int i = 0; i < 3; i++) {
    int s = sigsetjmp(jb, 1);
    if (!s)
      printf("%d\n", dv(5, z));
    else
      n += s;
  }
  printf("%d\n", n);
  return n;
}
