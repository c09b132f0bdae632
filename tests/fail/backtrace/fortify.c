// Guest frames of a buffer overflow that the C library's checks find.
// levels: O2
// flags: -D_FORTIFY_SOURCE=2
// signal: 6
// stderr-has: #0 memcpy at
// stderr-has: #1 main at tests/fail/backtrace/fortify.c:15
#include <stdlib.h>
#include <string.h>
char text[8];
volatile int sink;
__attribute__((noinline)) static void copy(const char *from, size_t n) {
  memcpy(text, from, n);
}
int main(int argc, char **argv) {
  copy("longer than eight letters", (size_t)argc * 20), sink = 1;
  return text[0] + argv[0][0] == 0;
}
