// exit: 23
// Structs of functions as interfaces, container_of, intrusive lists, callbacks with user data.
#include <stdio.h>
#include <stddef.h>
struct node {
  struct node *next;
};
struct shape;
struct vt {
  double (*area)(const struct shape *);
  const char *name;
};
struct shape {
  const struct vt *vt;
  struct node n;
};
struct sq {
  struct shape b;
  double s;
};
struct ci {
  double r;
  struct shape b;
};
#define OF(p, T, m) ((T *)((char *)(p) - offsetof(T, m)))
static double sqa(const struct shape *s) {
  const struct sq *q = OF(s, const struct sq, b);
  return q->s * q->s;
}
static double cia(const struct shape *s) {
  const struct ci *c = OF(s, const struct ci, b);
  return 3 * c->r * c->r;
}
static const struct vt sv = {sqa, "sq"}, cv = {cia, "ci"};
static void each(struct node *h, void (*f)(struct shape *, void *), void *u) {
  for (; h; h = h->next) f(OF(h, struct shape, n), u);
}
static void sum(struct shape *s, void *u) {
  *(double *)u += s->vt->area(s);
  printf("%s ", s->vt->name);
}
int main(void) {
  struct sq a = {{&sv, {0}}, 2}, b = {{&sv, {0}}, 3.5};
  struct ci c = {1.5, {&cv, {0}}};
  a.b.n.next = &c.b.n;
  c.b.n.next = &b.b.n;
  double t = 0;
  each(&a.b.n, sum, &t);
  printf("%g\n", t);
  return (int)t;
}
