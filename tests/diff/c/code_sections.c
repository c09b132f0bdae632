// Functions in sections of their own: addresses between the bounds that the linker defines.
#include <stdio.h>

#define IN(section_) __attribute__((section(section_), noinline))

IN("parsers") static int parse(int a) { return a + 1; }
static int outside(int a) { return a + 2; }
IN("printers") static int print(int a) { return printf("%d\n", a); }
IN("parsers") int scan(int a) { return a * 3; }

extern char __start_parsers[], __stop_parsers[], __start_printers[], __stop_printers[];
extern char __start_nothing[] __attribute__((weak)), __stop_nothing[] __attribute__((weak));

static int (*const all[])(int) = {parse, outside, print, scan};

int main(void) {
  for (int i = 0; i < 4; i++) {
    char *at = (char *)all[i];
    print(all[i](i));
    printf("%d %d\n", at >= __start_parsers && at < __stop_parsers, at >= __start_printers && at < __stop_printers);
  }
  printf("%d %d\n", __start_nothing == 0, __stop_nothing == 0);
  return 0;
}
