// A handler calls functions with long double arithmetic and inline assembly for the first time, through a table, while the
// program allocates.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <signal.h>
#include <sys/time.h>

#define F(N)                                                                                       \
  __attribute__((noinline)) static long double f##N(long double x, int n) {                        \
    long double half = x / 2 + n * N##.25L;                                                        \
    int swapped;                                                                                   \
    __asm__("bswapl %0" : "=r"(swapped) : "0"(n << 24 | N));                                       \
    return half * 4 + (swapped & 255);                                                             \
  }
F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8)
typedef long double (*Function)(long double, int);
static const Function inner[] = {f5, f6, f7, f8};
static const struct table {
  Function first[4];
  const Function *rest;
} table = {{f1, f2, f3, f4}, inner};
enum { COUNT = 8 };

static volatile int ticks;
static volatile long double sum;
static void tick(int signal) {
  (void)signal;
  if (ticks < COUNT)
    sum += (ticks < 4 ? table.first[ticks] : table.rest[ticks - 4])(2, 3);
  ticks++;
}

int main(void) {
  signal(SIGALRM, tick);
  struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; ticks < 200; i++) {
    void *volatile block = malloc(100 + i % 5000);
    free(block);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  long double wanted = 0;
  for (int n = 1; n <= COUNT; n++)
    wanted += (1 + 3 * (n + 0.25L)) * 4 + 3;
  CHECK(sum == wanted);
  return DONE();
}
