// exit: 33
// _exit skips handlers and buffers.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void never(void) { puts("never"); }
__attribute__((destructor)) static void nor(void) { puts("nor this"); }
int main(void) {
  atexit(never);
  printf("seen\n");
  fflush(stdout);
  printf("lost");
  _exit(33);
}
