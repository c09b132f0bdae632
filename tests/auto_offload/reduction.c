// OpenMP 5.2, section 5.5: reductions with every operator, several at once, over arrays and structures, on a device
// without `target`.
#include "../check.h"
#include <math.h>
#include <limits.h>
enum { N = 5000 };
typedef struct {
  double x;
  int k;
} Pair;
static void best(Pair *into, const Pair *from) {
  if (from->x > into->x) *into = *from;
}
#pragma omp declare reduction(best : Pair : best(&omp_out, &omp_in)) initializer(omp_priv = (Pair){-1e300, -1})
int main(void) {
  Pair *p = malloc(sizeof(Pair) * N);
  for (int i = 0; i < N; i++) p[i].x = (i * 37) % 4999, p[i].k = i;
  long sum = 3, product = 1, both = -1, any = 0, odd = 5;
  int least = INT_MAX, most = INT_MIN, all = 1, some = 0;
  double total = 0.5, low = 1e9, high = -1e9;
  float single = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += p[i].k;
  CHECK(sum == 3 + (long)N * (N - 1) / 2);
#pragma omp parallel for reduction(* : product)
  for (int i = 0; i < 20; i++) product *= p[i].k + 1;
  CHECK(product == 2432902008176640000L);
#pragma omp parallel for reduction(& : both) reduction(| : any) reduction(^ : odd)
  for (int i = 0; i < N; i++) both &= p[i].k | 64, any |= p[i].k, odd ^= p[i].k;
  long want = 5;
  for (int i = 0; i < N; i++) want ^= i;
  CHECK(both == 64 && any == 8191 && odd == want);
#pragma omp parallel for reduction(min : least) reduction(max : most)
  for (int i = 0; i < N; i++) {
    int v = (p[i].k * 7919) % 10007 - 5000;
    if (v < least) least = v;
    if (v > most) most = v;
  }
  int l = INT_MAX, m = INT_MIN;
  for (int i = 0; i < N; i++) {
    int v = (i * 7919) % 10007 - 5000;
    if (v < l) l = v;
    if (v > m) m = v;
  }
  CHECK(least == l && most == m);
#pragma omp parallel for reduction(&& : all) reduction(|| : some)
  for (int i = 0; i < N; i++) all = all && p[i].k >= 0, some = some || p[i].k == N - 1;
  CHECK(all == 1 && some == 1);
#pragma omp parallel for reduction(+ : total) reduction(min : low) reduction(max : high) reduction(+ : single)
  for (int i = 0; i < N; i++) {
    total += p[i].x;
    low = fmin(low, p[i].x), high = fmax(high, p[i].x);
    single += 1;
  }
  double t = 0.5;
  for (int i = 0; i < N; i++) t += p[i].x;
  CHECK(fabs(total - t) < 1e-6 && low == 0 && high == 4998 && single == N);
  Pair top = {-1e300, -1};
#pragma omp parallel for reduction(best : top)
  for (int i = 0; i < N; i++)
    if (p[i].x > top.x) top = p[i];
  CHECK(top.x == 4998 && p[top.k].x == 4998);
  long bins[6] = {1, 0, 0, 0, 0, 0};
#pragma omp parallel for reduction(+ : bins)
  for (int i = 0; i < N; i++) bins[p[i].k % 6] += p[i].k;
  for (int b = 0; b < 6; b++) {
    long s = b == 0;
    for (int i = b; i < N; i += 6) s += i;
    CHECK(bins[b] == s);
  }
  // Few iterations: most threads have none.
  double few = 1;
#pragma omp parallel for reduction(+ : few)
  for (int i = 0; i < 3; i++) few += p[i].k;
  CHECK(few == 4);
#pragma omp parallel for reduction(+ : few) schedule(dynamic)
  for (int i = 0; i < N; i++) few += 1;
  CHECK(few == 4 + N);
  free(p);
  return DONE();
}
