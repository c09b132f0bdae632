// flags: -D_GNU_SOURCE -fno-builtin
// no-sanitize: replaces the allocator
// A large program whose own malloc family also serves the C library, and recognizes its own blocks: memory
// that was allocated to read the program is still being freed when it runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static _Alignas(16) char arena[1 << 20];
static size_t used;
static int running;
static int mine(const void *p) { return (const char *)p >= arena && (const char *)p < arena + sizeof arena; }
void *malloc(size_t n) {
  size_t *p = (size_t *)(arena + __atomic_fetch_add(&used, (n + 31) & ~(size_t)15, __ATOMIC_RELAXED));
  p[0] = n;
  return p + 2;
}
void free(void *p) {
  if (__atomic_load_n(&running, __ATOMIC_RELAXED) && p && !mine(p)) {
    static const char text[] = "a block of somebody else's\n";
    if (write(2, text, sizeof text - 1)) _exit(3);
  }
}
void *calloc(size_t n, size_t m) { return memset(malloc(n * m), 0, n * m); }
void *realloc(void *p, size_t n) {
  void *q = malloc(n);
  if (p) memcpy(q, p, ((size_t *)p)[-2] < n ? ((size_t *)p)[-2] : n);
  return q;
}
#define ONE(name) \
  double name(double *a, int n) { \
    double sum = 0; \
    for (int i = 1; i + 1 < n; i++) { \
      a[i] = (a[i - 1] + a[i + 1]) * .5; \
      sum += a[i] > 0 ? a[i] : -a[i]; \
    } \
    return sum; \
  }
#define FOUR(name) ONE(name##a) ONE(name##b) ONE(name##c) ONE(name##d)
#define MANY(name) FOUR(name##a) FOUR(name##b) FOUR(name##c) FOUR(name##d)
#define MORE(name) MANY(name##a) MANY(name##b) MANY(name##c) MANY(name##d)
MORE(a) MORE(b) MORE(c) MORE(d) MORE(e) MORE(f)
int main(void) {
  running = 1;
  double a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  char *copy = strdup("a copy");
  usleep(20000);
  printf("%s %d %g\n", copy, mine(copy), aaaa(a, 8) + fddd(a, 8));
  running = 0;
}
