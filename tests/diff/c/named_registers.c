// Named register variables: the stack pointer and the frame pointer.
// flags: -fno-omit-frame-pointer
#include <stdint.h>
#include <stdio.h>

register uintptr_t stack_pointer __asm__("rsp");
register uint32_t low_stack_pointer __asm__("esp");
register uintptr_t frame_pointer __asm__("rbp");

__attribute__((noinline)) static int deeper(uintptr_t outer, int n) {
  volatile char local[64];
  local[0] = (char)n;
  if (n > 0)
    return deeper(stack_pointer, n - 1) + local[0];
  return stack_pointer != 0 && outer != 0;
}

__attribute__((noinline)) static int own(void) {
  uintptr_t before = stack_pointer;
  uintptr_t after = stack_pointer;
  return before == after && (uint32_t)before == low_stack_pointer && before % 8 == 0;
}

__attribute__((noinline)) static int in_loop(int n) {
  uintptr_t first = stack_pointer;
  int same = 0;
  for (int i = 0; i < n; i++)
    same += stack_pointer == first;
  return same;
}

int main(void) {
  printf("%d %d %d %d\n", own(), deeper(stack_pointer, 3), in_loop(100), frame_pointer != 0);
}
