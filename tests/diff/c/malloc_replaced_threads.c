// flags: -D_GNU_SOURCE -fno-builtin -pthread
// no-sanitize: replaces the allocator
// Threads of a program whose own malloc family also serves the C library: it may be needed while
// a thread starts.
#include <pthread.h>
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
static void *body(void *p) { return strdup(p); }
int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  void *copy;
  pthread_create(&thread, NULL, body, "a copy");
  pthread_join(thread, &copy);
  printf("%s %d\n", (char *)copy, mine(copy));
  pthread_getattr_np(pthread_self(), &attributes);
  size_t size = 0;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  printf("%d\n", size > 0);
}
