// OpenMP 5.2, section 5.5: reductions of array sections and structures' members' types.
#include "../../check.h"
int main(void) {
  int h[4] = {0};
#pragma omp target teams distribute parallel for map(tofrom : h) reduction(+ : h[ : 4])
  for (int i = 0; i < 400; i++) h[i % 4] += i;
  for (int k = 0; k < 4; k++) {
    int s = 0;
    for (int i = k; i < 400; i += 4) s += i;
    CHECK(h[k] == s);
  }
  return DONE();
}
