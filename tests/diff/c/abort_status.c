// signal: 6
// abort ends the process by SIGABRT after output was flushed.
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  puts("before");
  fflush(stdout);
  abort();
}
