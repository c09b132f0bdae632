// Globals that need constant expressions: GEPs with offsets, casts, differences, tables of member pointers.
#include <stdio.h>
#include <stdint.h>
#include <stddef.h>
struct s {
  int a;
  struct {
    short b[4];
    char *c;
  } in[2];
};
static struct s g = {1, {{{2, 3, 4, 5}, "six"}, {{7, 8, 9, 10}, "eleven"}}};
static short *mid = &g.in[1].b[2];
static char **cp = &g.in[0].c;
static char *past = &"string"[3];
static uintptr_t ip = (uintptr_t)&g.in[1];
static const size_t off[] = {offsetof(struct s, in), offsetof(struct s, in[1].c), sizeof(struct s)};
static char *base = (char *)&g + offsetof(struct s, in[1].b[1]);
static void *tab[] = {&g, &mid, tab, (void *)0x1234, (char *)tab + 8};
static int (*pf[2])(const char *) = {puts, 0};
static long k = -(long)sizeof(struct s) * 3;
static int neg = -7 / 2, sh = -16 >> 2;
int main(void) {
  printf("%d %s %s %d %zu %zu %zu %d %d %lx %d %ld %d %d\n", *mid, *cp, past, ip == (uintptr_t)&g.in[1], off[0], off[1],
         off[2], *(short *)base, tab[2] == tab, (unsigned long)(uintptr_t)tab[3], tab[4] == &tab[1], k, neg, sh);
  return pf[0]("called") < 0;
}
