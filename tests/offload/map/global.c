// OpenMP 5.2, section 5.8.3: variables with static storage that are not declared for devices.
#include "../../check.h"
int global[10];
static double local = 2.5;
int main(void) {
  static int counter = 3;
  for (int i = 0; i < 10; i++) global[i] = i;
#pragma omp target map(tofrom : global, local, counter)
  {
    for (int i = 0; i < 10; i++) global[i] += counter;
    local *= 2;
    counter++;
  }
  CHECK(global[9] == 12 && local == 5 && counter == 4);
  return DONE();
}
