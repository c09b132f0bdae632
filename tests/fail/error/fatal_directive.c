// OpenMP 5.2, section 8.5: error at(execution) with the default severity fatal stops the program with the message.
// levels: O0 O2
// optional: the error directive at execution
// flags: -fopenmp-version=52
// signal: 6
// stderr-has: the reason given
// stdout: before
#include <stdio.h>
int main(void) {
  puts("before"), fflush(stdout);
#pragma omp error at(execution) message("the reason given")
  puts("after");
  return 0;
}
