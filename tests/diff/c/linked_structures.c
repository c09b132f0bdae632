// Linked lists, binary trees and a priority queue with malloc and free.
#include <stdio.h>
#include <stdlib.h>
struct n {
  struct n *l, *r;
  int k;
};
static struct n *ins(struct n *t, int k) {
  if (!t) {
    t = calloc(1, sizeof *t);
    t->k = k;
    return t;
  }
  if (k < t->k)
    t->l = ins(t->l, k);
  else if (k > t->k)
    t->r = ins(t->r, k);
  return t;
}
static int dep(struct n *t) {
  if (!t) return 0;
  int a = dep(t->l), b = dep(t->r);
  return 1 + (a > b ? a : b);
}
static void fr(struct n *t, unsigned *h) {
  if (!t) return;
  fr(t->l, h);
  *h = *h * 31 + (unsigned)t->k;
  fr(t->r, h);
  free(t);
}
struct l {
  struct l *next;
  int v;
};
static struct l *rev(struct l *p) {
  struct l *r = 0;
  while (p) {
    struct l *n = p->next;
    p->next = r;
    r = p;
    p = n;
  }
  return r;
}
static int heap[256], hn;
static void push(int v) {
  int i = hn++;
  while (i && heap[(i - 1) / 2] > v) {
    heap[i] = heap[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  heap[i] = v;
}
static int pop(void) {
  int r = heap[0], v = heap[--hn], i = 0;
  for (;;) {
    int c = 2 * i + 1;
    if (c >= hn) break;
    if (c + 1 < hn && heap[c + 1] < heap[c]) c++;
    if (heap[c] >= v) break;
    heap[i] = heap[c];
    i = c;
  }
  heap[i] = v;
  return r;
}
int main(void) {
  struct n *t = 0;
  unsigned s = 1, h = 0;
  struct l *list = 0;
  for (int i = 0; i < 200; i++) {
    s = s * 1664525 + 1013904223;
    t = ins(t, (int)(s >> 20));
    push((int)(s >> 22));
    struct l *e = malloc(sizeof *e);
    e->v = i;
    e->next = list;
    list = e;
  }
  int d = dep(t);
  fr(t, &h);
  list = rev(list);
  unsigned q = 0;
  while (list) {
    struct l *n = list->next;
    q = q * 3 + (unsigned)list->v;
    free(list);
    list = n;
  }
  int last = -1, ok = 1;
  while (hn) {
    int v = pop();
    ok &= v >= last;
    last = v;
  }
  printf("%d %u %u %d %d\n", d, h, q, ok, last);
  return 0;
}
