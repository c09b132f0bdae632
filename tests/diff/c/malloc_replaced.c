// flags: -D_GNU_SOURCE -fno-builtin
// no-sanitize: replaces the allocator
// The program's own malloc family also serves the C library.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static _Alignas(16) char arena[1 << 20];
static size_t used;
static int mine(const void *p) { return (const char *)p >= arena && (const char *)p < arena + sizeof arena; }
void *malloc(size_t n) {
  size_t *p = (size_t *)(arena + __atomic_fetch_add(&used, (n + 31) & ~(size_t)15, __ATOMIC_RELAXED));
  p[0] = n;
  return p + 2;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return memset(malloc(n * m), 0, n * m); }
void *realloc(void *p, size_t n) {
  void *q = malloc(n);
  if (p) memcpy(q, p, ((size_t *)p)[-2] < n ? ((size_t *)p)[-2] : n);
  return q;
}
int main(void) {
  char *copy = strdup("a copy"), *line = 0;
  size_t room = 0;
  printf("%s %d\n", copy, mine(copy));
  FILE *f = fmemopen("one line\nand more", 17, "r");
  long got = getline(&line, &room, f);
  printf("%ld %d\n", got, mine(line));
  fclose(f);
  free(line);
  char *text;
  int n = asprintf(&text, "%d-%s", 42, copy);
  printf("%d %s %d\n", n, text, mine(text));
  return 0;
}
