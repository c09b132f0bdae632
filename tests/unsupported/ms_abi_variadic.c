// A variadic function with Microsoft's calling convention, whose lists are pointers.
// exit: 125
// stderr-has: a variadic function with the calling convention `ms_abi`
// stderr-has: ms_abi_variadic.c:9
#include <stdio.h>

__attribute__((ms_abi, noinline)) static int sum(int n, ...) {
  __builtin_ms_va_list list;
  __builtin_ms_va_start(list, n);
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += __builtin_va_arg(list, int);
  __builtin_ms_va_end(list);
  return sum;
}

int main(void) {
  printf("%d\n", sum(2, 3, 4));
  return 0;
}
