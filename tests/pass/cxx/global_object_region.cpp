// Regions in the constructor and the destructor of a global object.
// levels: O0 O2
// stdout: ok
// stdout: destroyed 3
#include "../../check.h"
struct Global {
  int n = 0;
  Global() {
#pragma omp parallel num_threads(3)
#pragma omp atomic
    n++;
  }
  ~Global() {
    int m = 0;
#pragma omp parallel num_threads(3) reduction(+ : m)
    m++;
    printf("destroyed %d\n", m);
  }
};
static Global global;
int main() {
  CHECK(global.n == 3);
  return DONE();
}
