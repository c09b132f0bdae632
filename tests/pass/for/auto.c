// OpenMP 5.2, section 11.5.3: schedule(auto) runs every iteration once.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int hits[777] = {0};
#pragma omp parallel for num_threads(4) schedule(auto)
  for (int i = 0; i < 777; i++) {
#pragma omp atomic
    hits[i]++;
  }
  for (int i = 0; i < 777; i++) CHECK(hits[i] == 1);
  return DONE();
}
