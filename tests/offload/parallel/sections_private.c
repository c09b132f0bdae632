// OpenMP 5.2, section 11.3: more sections than threads, with lastprivate, firstprivate and a reduction.
#include "../../check.h"
int main(void) {
  int sum = 0, last = 0, first = 5;
#pragma omp target map(tofrom : sum, last) map(to : first)
#pragma omp parallel sections num_threads(3) firstprivate(first) lastprivate(last) reduction(+ : sum)
  {
#pragma omp section
    sum += first, last = 1;
#pragma omp section
    sum += 10 * first, last = 2;
#pragma omp section
    sum += 100 * first, last = 3;
#pragma omp section
    sum += 1000 * first, last = 4;
#pragma omp section
    sum += 10000 * first, last = 5;
  }
  CHECK(sum == 55555 && last == 5);
  return DONE();
}
