// exit: 42
// flags: -D_GNU_SOURCE
// atexit and on_exit handlers: reverse order, handler registered within a handler, exit within main.
#include <stdio.h>
#include <stdlib.h>
static void late(void) { puts("late"); }
static void a(void) { puts("a"); }
static void b(void) {
  puts("b");
  atexit(late);
}
static void c(int s, void *p) { printf("on_exit %d %s\n", s, (char *)p); }
int main(void) {
  atexit(a);
  on_exit(c, "ctx");
  atexit(b);
  atexit(a);
  puts("main");
  exit(42);
}
