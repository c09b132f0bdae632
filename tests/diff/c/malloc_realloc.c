// malloc, calloc, realloc, free, aligned_alloc, posix_memalign, malloc_usable_size of at least the requested size.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <malloc.h>
int main(void) {
  unsigned h = 0;
  char *p = 0;
  size_t n = 0;
  for (int i = 1; i < 300; i++) {
    p = realloc(p, n + (size_t)i);
    memset(p + n, i, (size_t)i);
    n += (size_t)i;
  }
  for (size_t i = 0; i < n; i += 7) h = h * 31 + (unsigned char)p[i];
  int *z = calloc(1000, 4), s = 0;
  for (int i = 0; i < 1000; i++) s |= z[i];
  void *a = aligned_alloc(256, 1024), *b;
  int r = posix_memalign(&b, 4096, 100);
  void *v[100];
  for (int i = 0; i < 100; i++) v[i] = malloc((size_t)i * 100);
  for (int i = 0; i < 100; i += 2) free(v[i]);
  for (int i = 1; i < 100; i += 2) free(v[i]);
  printf("%u %zu %d %d %d %d %d\n", h, n, s, (int)((uintptr_t)a % 256), r, (int)((uintptr_t)b % 4096),
         malloc_usable_size(p) >= n);
  free(p);
  free(z);
  free(a);
  free(b);
  free(0);
  return 0;
}
