// The check also runs before an exception leaves the function: no handler catches an exception from an overrun frame.
// levels: O0 O2
// flags: -fstack-protector-all
// signal: 6
// stdout: caught 1
// stderr-has: stack smashing detected
#include <cstdio>
volatile int length = 8;
[[noreturn]] __attribute__((noinline)) static void leave(int what) {
  char text[8];
  for (int i = 0; i < length; i++) ((volatile char *)text)[i] = (char)i;
  throw what + text[0];
}
int main() {
  for (int round = 1; round < 3; round++) {
    try {
      leave(round);
    } catch (int n) {
      std::printf("caught %d\n", n);
      std::fflush(stdout);
    }
    length = 72;
  }
}
