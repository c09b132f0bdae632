// no-sanitize: resolvers run before the sanitizer is set up
// exit: 10
// Resolution of an ifunc: the resolver picks an implementation at start.
#include <stdio.h>
static int fast(int x) { return x * 2; }
static int slow(int x) { return x + x + 1; }
static int want = 1;
static int (*resolve(void))(int) { return sizeof(long) == 8 ? fast : slow; }
int twice(int) __attribute__((ifunc("resolve")));
static void *res2(void) { return (void *)slow; }
static int other(int) __attribute__((ifunc("res2")));
int main(void) {
  int (*volatile p)(int) = twice;
  printf("%d %d %d %d\n", twice(21), p(4), other(4), want);
  return p(5);
}
