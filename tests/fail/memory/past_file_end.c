// Reads a mapped page beyond the end of its file: SIGBUS instead of SIGSEGV.
// levels: O0 O2
// signal: 7
// stderr-has: past_file_end.c:10
#include <stdio.h>
#include <sys/mman.h>
int main(void) {
  FILE *f = tmpfile();
  volatile char *p = mmap(0, 4096, PROT_READ, MAP_SHARED, fileno(f), 0);
  return p[100];
}
