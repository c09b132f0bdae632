// exit: 9
// quick_exit runs at_quick_exit handlers only; stdout flushed by hand.
#include <stdio.h>
#include <stdlib.h>
static void q1(void) {
  puts("q1");
  fflush(stdout);
}
static void q2(void) {
  puts("q2");
  fflush(stdout);
}
static void never(void) {
  puts("never");
  fflush(stdout);
}
int main(void) {
  atexit(never);
  at_quick_exit(q1);
  at_quick_exit(q2);
  puts("main");
  fflush(stdout);
  quick_exit(9);
}
