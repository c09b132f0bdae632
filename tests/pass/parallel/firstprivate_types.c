// OpenMP 5.2, section 5.4.4: firstprivate copies start with the original's value: scalars, arrays, structs, pointers, VLAs.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
struct pair { char c; double d; short s[3]; };
static int run(int n) {
  int vla[n];
  for (int i = 0; i < n; i++) vla[i] = i * i;
  char c = 'x'; float f = 1.5f; double d = 2.25; long double ld = 3.125L; long long ll = -1234567890123LL; _Bool b = 1;
  int array[5] = {1, 2, 3, 4, 5}; struct pair p = {'p', 6.5, {7, 8, 9}}; int *pointer = array;
#pragma omp parallel num_threads(3) firstprivate(vla, c, f, d, ld, ll, b, array, p, pointer)
  {
    CHECK(c == 'x' && f == 1.5f && d == 2.25 && ld == 3.125L && ll == -1234567890123LL && b);
    CHECK(array[0] == 1 && array[4] == 5 && p.c == 'p' && p.d == 6.5 && p.s[2] == 9 && *pointer == 1);
    for (int i = 0; i < n; i++) CHECK(vla[i] == i * i);
    c++, f++, d++, ld++, ll++, b = 0, array[0]++, array[4]++, p.c++, p.d++, p.s[2]++, pointer = 0;
    for (int i = 0; i < n; i++) vla[i] = -1;
  }
  return c == 'x' && f == 1.5f && d == 2.25 && ld == 3.125L && b && array[0] == 1 && p.s[2] == 9 && pointer == array && vla[n - 1] == (n - 1) * (n - 1);
}
int main(void) {
  CHECK(run(1)); CHECK(run(33));
  return DONE();
}
