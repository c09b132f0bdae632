// flags: -D_GNU_SOURCE
// no-sanitize: overflows the stack on purpose
// A program survives its stack overflows: a handler on an alternate stack leaves by siglongjmp.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static sigjmp_buf jb;
static char alt[1 << 16];
static volatile int count;
__attribute__((noinline)) static int deeper(volatile char *p, int n) {
  volatile char a[512];
  a[n & 511] = n;
  if (n < 0) return *p;
  return deeper(a, n + 1) + a[n & 511];
}
static void on_fault(int s) {
  char line[40];
  count += snprintf(line, sizeof line, "fault %d", s);
  siglongjmp(jb, 1);
}
int main(void) {
  stack_t st = {.ss_sp = alt, .ss_size = sizeof alt}, old;
  int rc = sigaltstack(&st, &old);
  printf("%d %d\n", rc, old.ss_flags == SS_DISABLE);
  struct sigaction sa = {0};
  sa.sa_handler = on_fault;
  sa.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &sa, 0);
  volatile char c = 0;
  for (volatile int i = 0; i < 3; i++)
    if (!sigsetjmp(jb, 1)) printf("%d\n", deeper(&c, 0));
  sigaltstack(0, &old);
  printf("%d %d %d\n", count, old.ss_sp == alt, old.ss_flags);
  st.ss_flags = SS_DISABLE;
  rc = sigaltstack(&st, 0);
  sigaltstack(0, &old);
  printf("%d %d\n", rc, old.ss_flags == SS_DISABLE);
  return 0;
}
