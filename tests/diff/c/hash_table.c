// A chained hash table with string keys and growth: a larger everyday program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct e {
  struct e *next;
  unsigned h;
  int v;
  char k[];
};
struct t {
  struct e **b;
  unsigned n, cap;
};
static unsigned hs(const char *s) {
  unsigned h = 2166136261u;
  while (*s) h = (h ^ (unsigned char)*s++) * 16777619u;
  return h;
}
static void grow(struct t *t) {
  unsigned c = t->cap ? t->cap * 2 : 8;
  struct e **b = calloc(c, sizeof *b);
  for (unsigned i = 0; i < t->cap; i++)
    for (struct e *e = t->b[i], *n; e; e = n) {
      n = e->next;
      e->next = b[e->h & (c - 1)];
      b[e->h & (c - 1)] = e;
    }
  free(t->b);
  t->b = b;
  t->cap = c;
}
static int *at(struct t *t, const char *k) {
  unsigned h = hs(k);
  if (t->cap)
    for (struct e *e = t->b[h & (t->cap - 1)]; e; e = e->next)
      if (e->h == h && !strcmp(e->k, k)) return &e->v;
  if (t->n >= t->cap) grow(t);
  struct e *e = malloc(sizeof *e + strlen(k) + 1);
  e->h = h;
  e->v = 0;
  strcpy(e->k, k);
  e->next = t->b[h & (t->cap - 1)];
  t->b[h & (t->cap - 1)] = e;
  t->n++;
  return &e->v;
}
int main(void) {
  struct t t = {0};
  char k[16];
  for (int i = 0; i < 3000; i++) {
    sprintf(k, "k%d", i * i % 517);
    *at(&t, k) += i;
  }
  unsigned long s = 0;
  for (unsigned i = 0; i < t.cap; i++)
    for (struct e *e = t.b[i]; e; e = e->next) s += (unsigned long)e->v * e->h;
  printf("%u %u %lu %d\n", t.n, t.cap, s, *at(&t, "k4"));
  return 0;
}
