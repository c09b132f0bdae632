// no-sanitize: faults on purpose
// exit: 3
// SIGSEGV caught with sigaction and left with siglongjmp; si_addr names the fault.
#include <stdio.h>
#include <signal.h>
#include <setjmp.h>
#include <sys/mman.h>
static sigjmp_buf jb;
static char *page;
static volatile long off = -1;
static void h(int s, siginfo_t *i, void *u) {
  (void)u;
  off = (char *)i->si_addr - page;
  siglongjmp(jb, s);
}
int main(void) {
  struct sigaction sa = {0};
  sa.sa_sigaction = h;
  sa.sa_flags = SA_SIGINFO;
  sigemptyset(&sa.sa_mask);
  sigaction(SIGSEGV, &sa, 0);
  page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  volatile char *p = page;
  int n = 0;
  for (volatile int k = 0; k < 3; k++) {
    int s = sigsetjmp(jb, 1);
    if (s == 0) {
      p[k * 100] = 1;
      puts("not reached");
    } else {
      n++;
      printf("%d %ld\n", s == SIGSEGV, off);
    }
  }
  printf("%d %d\n", n, p[5]);
  return n;
}
