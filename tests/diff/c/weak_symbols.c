// no-sanitize: tests the address of a weak symbol
// flags: -Wno-tautological-pointer-compare
// exit: 9
// Weak definitions, undefined weak functions and objects tested against null.
#include <stdio.h>
__attribute__((weak)) int opt(int);
extern __attribute__((weak)) int missing_var;
__attribute__((weak)) int def(int x) { return x + 1; }
__attribute__((weak)) int weak_data = 5;
extern int puts_missing_(const char *) __attribute__((weak));
extern int printf(const char *, ...) __attribute__((weak));
int main(void) {
  int (*volatile p)(int) = opt;
  printf("%d %d %d %d %d %d\n", opt == 0, p == 0, &missing_var == 0, def(4), weak_data, puts_missing_ ? 1 : 0);
  if (opt) return opt(3);
  if (printf) return def(8);
  return 1;
}
