// exit: 9
// Aliases of functions and variables, weak aliases, calls through them.
#include <stdio.h>
static int impl(int x) { return x * 3; }
int strong(int) __attribute__((alias("impl")));
int weakal(int) __attribute__((weak, alias("impl")));
int var = 10;
extern int var_alias __attribute__((alias("var")));
static int arr[4] = {1, 2, 3, 4};
extern int arr_al[4] __attribute__((alias("arr")));
int second(int) __attribute__((alias("strong")));
int main(void) {
  int (*volatile f)(int) = weakal;
  var_alias = 20;
  arr_al[2] = 99;
  printf("%d %d %d %d %d %d %d\n", strong(2), f(5), second(1), var, arr[2], strong == weakal, &var == &var_alias);
  return f(3);
}
