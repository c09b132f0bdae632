// OpenMP 5.2, section 4.4.3: loops down, with strides, over long and unsigned variables, with bounds at the ends of their type.
#include <limits.h>
#include "../../check.h"
int main(void) {
  int seen[40] = {0};
#pragma omp target teams distribute parallel for map(tofrom : seen)
  for (long i = LONG_MAX - 9; i < LONG_MAX; i += 1) seen[i - (LONG_MAX - 9)]++;
#pragma omp target teams distribute parallel for map(tofrom : seen)
  for (unsigned long i = 5; i > 0; i--) seen[10 + i]++;
#pragma omp target teams distribute parallel for map(tofrom : seen)
  for (int i = INT_MIN; i <= INT_MIN + 8; i += 4) seen[20 + (i - INT_MIN) / 4]++;
#pragma omp target teams distribute parallel for map(tofrom : seen)
  for (unsigned char i = 250; i >= 246; i -= 2) seen[30 + (250 - i) / 2]++;
#pragma omp target teams distribute parallel for map(tofrom : seen)
  for (int i = 10; i < 10; i++) seen[39]++;
  for (int i = 0; i < 40; i++) {
    int in = i < 9 || (i >= 11 && i < 16) || (i >= 20 && i < 23) || (i >= 30 && i < 33);
    CHECK(seen[i] == in);
  }
  return DONE();
}
