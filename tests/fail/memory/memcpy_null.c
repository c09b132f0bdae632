// A fault inside a native library function called by the guest: memcpy to a null pointer.
// levels: O0 O2
// signal: 11
// stderr-has: memcpy_null.c:10
#include <string.h>
void *volatile nowhere;
volatile unsigned long length = 4000;
static char from[4096];
int main(void) {
  memcpy(nowhere, from, length);
  return 0;
}
