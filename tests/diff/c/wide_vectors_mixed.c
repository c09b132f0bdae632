// env: OMPVM_CHAOS=3
// flags: -Wno-psabi -mavx2
// Functions that take and return vectors of 256 bits, some of them compiled
// and some not: compiled code cannot call an interpreted one with such arguments.
#include <stdio.h>

typedef int Ints __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(32)));

__attribute__((noinline)) static Ints twist(Ints a, Ints b) { return a * 3 + (b ^ 5); }
__attribute__((noinline)) static Ints turn(Ints a, Ints b) { return twist(b, a) - a; }
__attribute__((noinline)) static Doubles mix(Doubles a, Ints b) {
  for (int i = 0; i < 4; i++) a[i] = a[i] * 0.5 + b[i] % 100;
  return a;
}
__attribute__((noinline)) static int sum(Ints a) {
  int s = 0;
  for (int i = 0; i < 8; i++) s ^= a[i];
  return s;
}
__attribute__((noinline)) static int down(int n, Ints a) {
  return n == 0 ? sum(a) : down(n - 1, turn(a, a + n)) + n;
}

int main(int argc, char **argv) {
  (void)argv;
  Ints a = {1, 2, 3, 4, 5, 6, 7, argc}, b = a + 8;
  Doubles d = {1, 2, 3, 4};
  for (int round = 0; round < 20; round++) {
    a = round % 2 ? turn(a, b) : twist(a, b);
    b = turn(b, a);
    d = mix(d, a);
    a[round % 8] ^= down(round, b);
  }
  double s = 0;
  for (int i = 0; i < 4; i++) s += d[i];
  printf("%d %d %.3f\n", sum(a), sum(b), s);
  return 0;
}
