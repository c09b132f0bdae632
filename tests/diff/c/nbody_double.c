// A short n-body integration: sqrt and division in a loop, structs of doubles.
#include <stdio.h>
#include <math.h>
struct b {
  double x[3], v[3], m;
};
int main(void) {
  struct b s[4] = {{{0, 0, 0}, {0, 0, 0}, 40},
                   {{5, 0, 0.1}, {0, 2.5, 0}, 0.04},
                   {{0, 8, 0}, {-2, 0, 0.1}, 0.01},
                   {{-10, 1, 1}, {0, -1.8, 0}, 0.002}};
  for (int n = 0; n < 300; n++) {
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++) {
        double d[3], r = 0;
        for (int k = 0; k < 3; k++) {
          d[k] = s[i].x[k] - s[j].x[k];
          r += d[k] * d[k];
        }
        double g = 0.005 / (r * sqrt(r));
        for (int k = 0; k < 3; k++) {
          s[i].v[k] -= d[k] * s[j].m * g;
          s[j].v[k] += d[k] * s[i].m * g;
        }
      }
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 3; k++) s[i].x[k] += 0.005 * s[i].v[k];
  }
  for (int i = 0; i < 4; i++) printf("%a %a %a\n", s[i].x[0], s[i].x[1], s[i].v[2]);
  return 0;
}
