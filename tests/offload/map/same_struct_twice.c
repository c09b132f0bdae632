// OpenMP 5.2, section 5.8.3: parts of a structure mapped by consecutive constructs.
#include "../../check.h"
struct S { int a[4]; int b[4]; } s;
int main(void) {
  for (int i = 0; i < 4; i++) s.a[i] = i, s.b[i] = 10 + i;
#pragma omp target data map(tofrom : s)
  {
#pragma omp target map(tofrom : s.a)
    for (int i = 0; i < 4; i++) s.a[i] *= 2;
#pragma omp target map(tofrom : s.b)
    for (int i = 0; i < 4; i++) s.b[i] += s.a[i];
    CHECK(s.a[3] == 3);
  }
  for (int i = 0; i < 4; i++) CHECK(s.a[i] == 2 * i && s.b[i] == 10 + 3 * i);
  return DONE();
}
