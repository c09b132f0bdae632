// Flexible array members, zero-length arrays, containers with trailing data.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct str {
  size_t n;
  char s[];
};
struct tab {
  int n;
  struct {
    short k;
    double v;
  } e[];
};
static struct str *mk(const char *s) {
  size_t n = strlen(s);
  struct str *r = malloc(sizeof *r + n + 1);
  r->n = n;
  memcpy(r->s, s, n + 1);
  return r;
}
static struct tab init = {3, {{1, 0.5}, {2, 1.5}, {3, 2.5}}};
int main(void) {
  struct str *a = mk("flexible"), *b = mk("");
  struct tab *t = malloc(sizeof *t + 10 * sizeof t->e[0]);
  t->n = 10;
  for (int i = 0; i < t->n; i++) {
    t->e[i].k = (short)(i * i);
    t->e[i].v = i / 4.0;
  }
  double s = 0;
  for (int i = 0; i < t->n; i++) s += t->e[i].k * t->e[i].v;
  for (int i = 0; i < init.n; i++) s += init.e[i].v;
  printf("%zu %s %zu %g %zu %zu\n", a->n, a->s, b->n, s, sizeof(struct str), sizeof(struct tab));
  free(a);
  free(b);
  free(t);
  return 0;
}
