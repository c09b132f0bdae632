// exit: 5
// flags: -fstack-protector-all -fno-omit-frame-pointer -fno-common
// Code built with stack protectors, frame pointers and no common: extra attributes and intrinsics in the IR.
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) static int f(const char *s) {
  char b[24];
  strncpy(b, s, sizeof b - 1);
  b[23] = 0;
  return (int)strlen(b) + (__builtin_frame_address(0) != 0) + (__builtin_return_address(0) != 0);
}
int main(void) {
  printf("%d %d\n", f("short"), f("a string longer than the buffer of f"));
  return f("xyz");
}
