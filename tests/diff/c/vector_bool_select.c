// Vector conditionals: the ternary operator on vectors, boolean vectors, masks.
#include <stdio.h>
typedef int v4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef _Bool b8 __attribute__((ext_vector_type(8)));
int main(void) {
  volatile int k = 3;
  v4 a = {1, 5, k, -7}, b = {2, 4, 3, 0};
  v4 m = a > b;
  v4 r = m ? a : b;
  f4 f = (a == b) ? (f4){1, 2, 3, 4} : (f4)0.5f;
  printf("%d %d %d %d | %g %g %g %g\n", r.x, r.y, r.z, r.w, f.x, f.y, f.z, f.w);
  b8 p = {1, 0, 1, 1, 0, 0, k == 3, 0}, q = {0, 0, 1, 0, 1, 0, 1, 1};
  b8 x = p & q, y = p | q, z = p ^ q;
  for (int i = 0; i < 8; i++) printf("%d%d%d ", x[i], y[i], z[i]);
  printf("%zu %d\n", sizeof(b8), (m & 1).y);
  return 0;
}
