// Structures passed and returned by value in a region, in registers and in memory.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
struct small { int a; float b; }; struct two { double x; long n; }; struct large { long v[9]; };
__attribute__((noinline)) static struct small one(struct small s, int k) { s.a += k; s.b *= 2; return s; }
__attribute__((noinline)) static struct two mid(struct two t) { t.x += t.n; t.n++; return t; }
__attribute__((noinline)) static struct large big(struct large l, struct small s) { l.v[8] += s.a; return l; }
int main(void) {
  struct large keep = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
#pragma omp parallel num_threads(4) firstprivate(keep)
  for (int i = 0; i < 20; i++) {
    int me = omp_get_thread_num();
    struct small s = one((struct small){me, 1.5f}, i);
    struct two t = mid((struct two){0.5, me});
    struct large l = big(keep, s);
    CHECK(s.a == me + i && s.b == 3 && t.x == 0.5 + me && t.n == me + 1 && l.v[8] == 9 + me + i && l.v[0] == 1 && keep.v[8] == 9);
  }
  return DONE();
}
