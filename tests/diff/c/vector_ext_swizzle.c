// ext_vector_type: swizzles, splats, element assignment, odd lengths.
#include <stdio.h>
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f3 __attribute__((ext_vector_type(3)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i8 __attribute__((ext_vector_type(8)));
__attribute__((noinline)) static f3 cross(f3 a, f3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
int main(void) {
  volatile float k = 2;
  f4 a = {1, k, 3, 4}, b = a.wzyx, c = 5.0f;
  c.xz = a.yw;
  b.w = c.x;
  f3 n = cross(a.xyz, b.xyz);
  i8 v = {1, 2, 3, 4, 5, 6, 7, 8};
  i2 h = v.s53;
  v.odd = v.even * 10;
  printf("%g %g %g %g | %g %g %g %g | %g %g %g\n", b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w, n.x, n.y, n.z);
  for (int i = 0; i < 8; i++) printf("%d ", v[i]);
  printf("%d %d %zu %zu %d\n", h.x, h.y, sizeof(f3), sizeof(i8), (int)a.lo.y);
  return 0;
}
