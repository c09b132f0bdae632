// Of two arrays the overrun one lies next to the guard, or its overrun reaches the guard through the other; a pointer
// next to them stays intact.
// levels: O0 O2
// flags: -fstack-protector
// signal: 6
// stdout: 14
// stderr-has: stack smashing detected
#include <stdio.h>
volatile int extra;
static int values[2] = {3, 4};
__attribute__((noinline)) static int both(void) {
  char first[16], second[24];
  int *pointer = values;
  for (int i = 0; i < 24; i++) second[i] = 7;
  for (int i = 0; i < 16 + extra; i++) ((volatile char *)first)[i] = 1;
  __asm__ volatile("" : : "r"(first), "r"(second) : "memory");
  return pointer[0] + pointer[1] + (extra ? 0 : second[3]);
}
int main(void) {
  printf("%d\n", both());
  fflush(stdout);
  extra = 40;
  return both();
}
