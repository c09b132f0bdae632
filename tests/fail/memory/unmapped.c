// Reads a page after munmap, in serial code.
// levels: O0 O2
// signal: 11
// stderr-has: unmapped.c:11
#define _GNU_SOURCE
#include <sys/mman.h>
int main(void) {
  volatile char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  p[5] = 1;
  munmap((void *)p, 4096);
  return p[5];
}
