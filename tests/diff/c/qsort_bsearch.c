// qsort and bsearch with guest comparison functions: ints, doubles, strings, structs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int calls;
static int ci(const void *a, const void *b) {
  calls++;
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}
static int cd(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}
static int cs(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
struct r {
  char k[6];
  int v;
};
static int cr(const void *a, const void *b) {
  const struct r *x = a, *y = b;
  int c = strcmp(x->k, y->k);
  return c ? c : y->v - x->v;
}
int main(void) {
  int v[500];
  unsigned s = 12345;
  for (int i = 0; i < 500; i++) {
    s = s * 1103515245 + 12345;
    v[i] = (int)(s >> 16) % 1000;
  }
  qsort(v, 500, sizeof *v, ci);
  int ok = calls > 0;
  unsigned h = 0;
  for (int i = 0; i < 500; i++) {
    h = h * 31 + (unsigned)v[i];
    ok &= !i || v[i - 1] <= v[i];
  }
  int key = v[123], *f = bsearch(&key, v, 500, sizeof *v, ci);
  int miss = 5000;
  printf("%d %u %d %d\n", ok, h, f && *f == key, bsearch(&miss, v, 500, sizeof *v, ci) == 0);
  double d[] = {1.5, -2, 8, 0, 3.25};
  qsort(d, 5, sizeof *d, cd);
  for (int i = 0; i < 5; i++) printf("%g ", d[i]);
  const char *w[] = {"pear", "apple", "fig", "kiwi"};
  qsort(w, 4, sizeof *w, cs);
  for (int i = 0; i < 4; i++) printf("%s ", w[i]);
  struct r r[] = {{"b", 1}, {"a", 2}, {"b", 3}, {"a", 9}};
  qsort(r, 4, sizeof *r, cr);
  for (int i = 0; i < 4; i++) printf("%s%d ", r[i].k, r[i].v);
  puts("");
  return 0;
}
