// exit: 5
// flags: -D_GNU_SOURCE
// qsort_r with a context, lfind, hsearch-free: callbacks with user data, nested qsort inside a comparison.
#include <stdio.h>
#include <stdlib.h>
#include <search.h>
struct ctx {
  const int *key;
  int n;
};
static int cmp(const void *a, const void *b, void *c) {
  struct ctx *x = c;
  x->n++;
  return x->key[*(const int *)a] - x->key[*(const int *)b];
}
static int plain(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int nested(const void *a, const void *b) {
  int t[4] = {*(const int *)a, 3, *(const int *)b, 1};
  qsort(t, 4, sizeof *t, plain);
  return t[0] + t[3] >= 0 ? plain(a, b) : plain(b, a);
}
static int nodes;
static void walk(const void *n, VISIT v, int d) {
  if (v == postorder || v == leaf) {
    printf("%d@%d ", **(int *const *)n, d >= 0);
    nodes++;
  }
}
int main(void) {
  int key[] = {50, 10, 40, 20, 30}, idx[] = {0, 1, 2, 3, 4};
  struct ctx c = {key, 0};
  qsort_r(idx, 5, sizeof *idx, cmp, &c);
  for (int i = 0; i < 5; i++) printf("%d ", idx[i]);
  int v[] = {9, 4, 7, 1};
  qsort(v, 4, sizeof *v, nested);
  for (int i = 0; i < 4; i++) printf("%d ", v[i]);
  size_t n = 5;
  int k = 40;
  int *f = lfind(&k, key, &n, sizeof *key, plain);
  printf("%td %d\n", f - key, c.n > 3);
  void *root = 0;
  for (int i = 0; i < 5; i++) tsearch(&key[i], &root, plain);
  twalk(root, walk);
  printf("%d\n", nodes);
  return nodes;
}
