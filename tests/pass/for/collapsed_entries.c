// OpenMP 5.2, sections 4.4.2 and 4.4.3: the runtime's entries for collapsed nests, which compilers may call: rectangular
// nests of several types and directions, and parts of nests whose inner bounds depend on outer variables.
// stdout: ok
// levels: O0 O2
// native: libomp 19 does not say which thread has the last iteration of the first of these nests
#include "../../check.h"
typedef unsigned long long u64;
struct bounds {
  int type, iv_type, comparison, outer;
  u64 lb0, lb1, ub0, ub1;
  long long step;
  u64 trips;
};
enum { U8, I8, U16, I16, U32, I32, U64, I64 };
enum { LE, GE, NE, LT, GT };
int __kmpc_global_thread_num(void *);
u64 __kmpc_process_loop_nest_rectang(void *, int, struct bounds *, int);
void __kmpc_calc_original_ivs_rectang(void *, u64, const struct bounds *, u64 *, int);
int __kmpc_for_collapsed_init(void *, int, struct bounds *, struct bounds *, int, int *);

static int below(const long *a, const long *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) return i + 1;
  return 0;
}

#define MOST 4000
// Each thread visits its points from first to last; together they visit each point of the nest once.
static void shares(const struct bounds *nest, int n, long expected) {
  static unsigned char seen[MOST];
  static long points[MOST][3];
  long count = 0;
  int lasts = 0, done = 0;
  long p[3] = {0};
  // The nest in order, by the definition.
  for (p[0] = nest[0].lb0; p[0] <= (long)nest[0].ub0; p[0]++) {
    long l1 = nest[1].lb0 + nest[1].lb1 * p[nest[1].outer], u1 = nest[1].ub0 + nest[1].ub1 * p[nest[1].outer];
    for (p[1] = l1; p[1] <= u1; p[1] += nest[1].step) {
      long l2 = n > 2 ? (long)(nest[2].lb0 + nest[2].lb1 * p[nest[2].outer]) : 0;
      long u2 = n > 2 ? (long)(nest[2].ub0 + nest[2].ub1 * p[nest[2].outer]) : 0;
      for (p[2] = l2; p[2] <= u2; p[2]++) memcpy(points[count++], p, sizeof p);
    }
  }
  CHECK(count == expected);
  memset(seen, 0, sizeof seen);
#pragma omp parallel reduction(+ : lasts, done)
  {
    struct bounds mine[3], share[3];
    int last = 7;
    memcpy(mine, nest, sizeof *mine * n);
    if (__kmpc_for_collapsed_init(0, __kmpc_global_thread_num(0), mine, share, n, &last)) {
      long from[3], to[3], at = 0;
      for (int i = 0; i < n; i++) from[i] = share[i].lb0, to[i] = share[i].ub0, CHECK(share[i].lb1 == 0 && share[i].ub1 == 0);
      while (at < count && below(points[at], from, n)) at++;
      CHECK(at < count);
      for (; at < count; at++) {
        int differs = below(points[at], to, n);
        if (differs && points[at][differs - 1] > to[differs - 1]) break;
        seen[at]++;
        done++;
      }
      CHECK(last == (at == count));
      lasts += last;
    } else {
      CHECK(last == 0);
    }
  }
  CHECK(done == count && lasts == (count > 0));
  for (long i = 0; i < count; i++) CHECK(seen[i] == 1);
}

int main(void) {
  struct bounds box[3] = {{I32, I8, LT, 0, 3, 0, 10, 0, 2, 0},
                          {U64, U64, GE, 0, 9, 0, 0, 0, -3, 0},
                          {I64, I16, NE, 0, (u64)-4, 0, 4, 0, 4, 0}};
  u64 iv[3];
  CHECK(__kmpc_process_loop_nest_rectang(0, 0, box, 3) == 4 * 4 * 2);
  CHECK(box[0].comparison == LE && (int)box[0].ub0 == 9 && box[2].comparison == LE && box[2].ub0 == 3);
  CHECK(box[0].trips == 4 && box[1].trips == 4 && box[2].trips == 2);
  int k = 0;
  for (int a = 3; a < 10; a += 2)
    for (long b = 9; b >= 0; b -= 3)
      for (long c = -4; c != 4; c += 4) {
        __kmpc_calc_original_ivs_rectang(0, k++, box, iv, 3);
        CHECK((signed char)iv[0] == a && (long)iv[1] == b && (long)iv[2] == c);
      }
  struct bounds none[1] = {{I32, I32, GT, 0, 1, 0, 1, 0, -1, 0}};
  CHECK(__kmpc_process_loop_nest_rectang(0, 0, none, 1) == 0);
  // j <= i; j > i; two slopes; a parallelogram; a third loop that depends on the first or the second.
  shares((struct bounds[]){{I64, I64, LE, 0, 0, 0, 20, 0, 1, 0}, {I64, I64, LE, 0, 0, 0, 0, 1, 1, 0}}, 2, 231);
  shares((struct bounds[]){{I64, I64, LE, 0, 0, 0, 20, 0, 1, 0}, {I64, I64, LE, 0, 1, 1, 20, 0, 1, 0}}, 2, 210);
  shares((struct bounds[]){{I64, I64, LE, 0, 1, 0, 9, 0, 1, 0}, {I64, I64, LE, 0, 0, (u64)-2, 0, 3, 3, 0}}, 2, 81);
  shares((struct bounds[]){{I64, I64, LE, 0, 0, 0, 6, 0, 1, 0}, {I64, I64, LE, 0, 0, 1, 4, 1, 1, 0}, {I64, I64, LE, 0, 0, 0, 2, 1, 1, 0}}, 3, 210);
  shares((struct bounds[]){{I64, I64, LE, 0, 0, 0, 9, 0, 1, 0}, {I64, I64, LE, 0, 0, 0, 0, 1, 1, 0}, {I64, I64, LE, 1, 0, 0, 0, 1, 1, 0}}, 3, 220);
  shares((struct bounds[]){{I64, I64, LE, 0, 5, 0, 4, 0, 1, 0}, {I64, I64, LE, 0, 0, 0, 0, 1, 1, 0}}, 2, 0);
  return DONE();
}
