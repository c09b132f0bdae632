// exit: 5
// Static initializers: designated, nested, addresses of members, strings, partial arrays, compound literals.
#include <stdio.h>
struct pt {
  int x, y;
};
struct n {
  struct pt p[2];
  const char *s;
  struct n *next;
  int *q;
  double d;
};
static int arr[] = {[3] = 7, 8, [0] = 1, [9] = 5};
static struct n second = {.s = "two", .q = &arr[4], .d = -1.5};
static struct n first = {{{1, 2}, {.y = 4}}, "one", &second, arr + 9, 1e10};
static struct pt *lit = &(struct pt){11, 12};
static char msg[] = "mutable", fixed[4] = {'a', 'b'};
static void *self = &self;
static const int wide[] = L"wide";
static struct {
  char c;
  short s;
  long l;
} z[2] = {[1] = {.l = 9}};
static int *end = (int *)((char *)arr + sizeof arr) - 1;
static unsigned long len = sizeof arr / sizeof *arr;
int main(void) {
  msg[0] = 'M';
  printf("%d %d %d %s %s %d %d %g %g\n", first.p[0].y, first.p[1].x, first.p[1].y, first.s, first.next->s, *first.q,
         *second.q, first.d, second.d);
  printf("%d %d %s %s %d %ld %d %lu %d\n", lit->x, lit->y, msg, fixed, self == &self, z[1].l, *end, len, wide[2]);
  int *c = (int[]){4, 5, 6};
  return c[1] + arr[5];
}
