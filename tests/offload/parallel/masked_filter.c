// OpenMP 5.2, section 10.5: masked with an expression as its filter, and master.
// flags: -fopenmp-version=51
// not-on: processors
#include "../../check.h"
int main(void) {
  int who[4] = {-1, -1, -1, -1}, runs = 0;
#pragma omp target parallel num_threads(40) map(tofrom : who, runs)
  {
    for (int k = 0; k < 3; k++) {
#pragma omp masked filter(13 * k)
      {
        who[k] = omp_get_thread_num();
#pragma omp atomic
        runs++;
      }
#pragma omp barrier
    }
#pragma omp masked filter(1000)
    runs += 100;
#pragma omp master
    who[3] = omp_get_thread_num();
  }
  CHECK(who[0] == 0 && who[1] == 13 && who[2] == 26 && who[3] == 0 && runs == 3);
  return DONE();
}
