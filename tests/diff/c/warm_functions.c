// Functions that are called once, a few times and often, and one with a loop.
#include <stdio.h>

static volatile int calls;

__attribute__((noinline)) void once(void) { calls = calls + 1; }
__attribute__((noinline)) void rarely(void) { calls = calls + 2; }
__attribute__((noinline)) void often(void) { calls = calls + 3; }

__attribute__((noinline)) void loops(int n) {
  for (int i = 0; i < n; i++)
    calls = calls + 4;
}

int main(void) {
  once();
  for (int i = 0; i < 10; i++)
    rarely();
  for (int i = 0; i < 1000; i++)
    often();
  loops(1000);
  printf("%d\n", calls);
  return 0;
}
