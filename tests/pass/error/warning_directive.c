// OpenMP 5.2, section 8.5: error at(execution) severity(warning) prints the message and goes on.
// stdout: ok
// levels: O0 O2
// optional: the error directive at execution
// flags: -fopenmp-version=52
// stderr-has: careful with this
#include "../../check.h"
int main(void) {
#pragma omp error at(execution) severity(warning) message("careful with this")
  return DONE();
}
