// OpenMP 5.2, section 5.5: reductions over teams and threads with every operator.
#include "../../check.h"
int main(void) {
  enum { N = 500 };
  int v[N], sum = 3, most = -1, least = 1000, all = ~0, any = 0, odd = 0, land = 1, lor = 0;
  double product = 1, dsum = 0;
  for (int i = 0; i < N; i++) v[i] = (i * 37) % 501;
#pragma omp target teams distribute parallel for map(to : v) reduction(+ : sum, dsum) reduction(max : most) reduction(min : least) reduction(& : all) reduction(| : any) reduction(^ : odd) reduction(&& : land) reduction(|| : lor) reduction(* : product)
  for (int i = 0; i < N; i++) {
    sum += v[i];
    dsum += 0.5 * v[i];
    if (v[i] > most) most = v[i];
    if (v[i] < least) least = v[i];
    all &= v[i] | 0x700;
    any |= v[i];
    odd ^= v[i];
    land = land && v[i] >= 0;
    lor = lor || v[i] == 500;
    product *= i % 100 == 0 ? 2 : 1;
  }
  int s = 3, m = -1, l = 1000, a = ~0, o = 0, x = 0, y = 0;
  for (int i = 0; i < N; i++) {
    s += v[i];
    if (v[i] > m) m = v[i];
    if (v[i] < l) l = v[i];
    a &= v[i] | 0x700;
    o |= v[i];
    x ^= v[i];
    y = y || v[i] == 500;
  }
  CHECK(sum == s && most == m && least == l && all == a && any == o && odd == x && land && lor == y && product == 32);
  CHECK(dsum == 0.5 * (s - 3));
  return DONE();
}
