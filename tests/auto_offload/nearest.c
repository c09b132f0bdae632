/* The k-means algorithm: the sums in an array with data-dependent element updates stay in block memory; an iteration adds to
 * them and combines nothing, and none of it is on the stack.
 * with: ld.shared.b64 st.shared.b64 add.rn.f64
 * without: ld.local st.local shfl.sync
 */
#include "../check.h"
#include <math.h>
enum { N = 20000, CENTRES = 8 };
typedef struct {
  float x, y;
} Point;
static int nearest(const Point *centres, Point p) {
  int best = 0;
  float least = 1e30f;
  for (int c = 0; c < CENTRES; c++) {
    float dx = p.x - centres[c].x, dy = p.y - centres[c].y, d = dx * dx + dy * dy;
    if (d < least) least = d, best = c;
  }
  return best;
}
int main(void) {
  Point *points = malloc(sizeof(Point) * N), centres[CENTRES];
  for (long i = 0; i < N; i++) points[i] = (Point){(float)(i * 7919 % 1009), (float)(i * 104729 % 997)};
  for (int c = 0; c < CENTRES; c++) centres[c] = (Point){(float)(c * 120 + 60), (float)(c * 370 % 1000)};
  double sums[CENTRES * 3] = {0}, want[CENTRES * 3] = {0};
#pragma omp parallel for reduction(+ : sums)
  for (long i = 0; i < N; i++) {
    int best = nearest(centres, points[i]);
    sums[3 * best] += points[i].x, sums[3 * best + 1] += points[i].y, sums[3 * best + 2] += 1;
  }
  for (long i = 0; i < N; i++) {
    int best = nearest(centres, points[i]);
    want[3 * best] += points[i].x, want[3 * best + 1] += points[i].y, want[3 * best + 2] += 1;
  }
  for (int i = 0; i < CENTRES * 3; i++) CHECK(fabs(sums[i] - want[i]) <= 1e-9 * want[i]);
  free(points);
  return DONE();
}
