// exit: 3
// Constructor and destructor attributes with priorities, with atexit in between.
#include <stdio.h>
#include <stdlib.h>
static int n;
__attribute__((constructor(300))) static void c3(void) { printf("c300 %d\n", n++); }
__attribute__((constructor(200))) static void c2(void) { printf("c200 %d\n", n++); }
__attribute__((constructor)) static void c(void) { printf("c %d\n", n++); }
__attribute__((destructor)) static void d(void) { puts("d"); }
__attribute__((destructor(200))) static void d2(void) { puts("d200"); }
__attribute__((destructor(300))) static void d3(void) { puts("d300"); }
static void ae(void) { puts("atexit"); }
int main(void) {
  atexit(ae);
  printf("main %d\n", n);
  return n;
}
