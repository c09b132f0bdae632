// Assignment of structs with padding, arrays in structs, self assignment, chains of copies through pointers.
#include <stdio.h>
#include <string.h>
struct a {
  char c;
  int v[3];
  short s;
  long double l;
};
struct b {
  struct a x[2];
  _Bool f;
};
__attribute__((noinline)) static void copy(struct b *d, const struct b *s) { *d = *s; }
int main(void) {
  struct b p = {{{'x', {1, 2, 3}, 4, 5.5L}, {'y', {6, 7, 8}, 9, -1}}, 1}, q, *r = &p;
  copy(&q, r);
  q.x[0] = p.x[1];
  q.x[1] = q.x[0];
  *r = *r;
  q.x[1].v[2]++;
  copy(&p, &q);
  printf("%c %d %d %d %Lg %d %d %zu\n", p.x[0].c, p.x[0].v[2], p.x[1].v[2], p.x[1].s, p.x[0].l, p.f,
         memcmp(p.x[0].v, q.x[0].v, sizeof q.x[0].v), sizeof p);
  return 0;
}
