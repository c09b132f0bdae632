// exit: 5
// Branches and selects on floating comparisons in loops: minima, clamps, counting of NaN, sorting networks.
#include <stdio.h>
#include <math.h>
static double v[64];
int main(void) {
  for (int i = 0; i < 64; i++) v[i] = i % 13 == 5 ? NAN : (i * 37 % 64) - 31.5;
  double mn = INFINITY, mx = -INFINITY, s = 0;
  int nan = 0, neg = 0;
  for (int i = 0; i < 64; i++) {
    if (v[i] < mn) mn = v[i];
    mx = v[i] > mx ? v[i] : mx;
    if (v[i] != v[i])
      nan++;
    else
      s += v[i] < -10 ? -10 : v[i] > 10 ? 10 : v[i];
    neg += v[i] < 0;
  }
  for (int i = 0; i < 64; i++)
    for (int j = 0; j + 1 < 64; j++)
      if (v[j] > v[j + 1]) {
        double t = v[j];
        v[j] = v[j + 1];
        v[j + 1] = t;
      }
  int ord = 0;
  for (int j = 0; j + 1 < 64; j++) ord += v[j] <= v[j + 1];
  printf("%g %g %g %d %d %d\n", mn, mx, s, nan, neg, ord);
  return nan;
}
