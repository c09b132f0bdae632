// Parallel regions in atexit handlers and in destructor functions, after main.
// levels: O0 O2
// stdout: ok
// stdout: handler 4
// stdout: destructor 3
#include "../../check.h"
static void handler(void) {
  int n = 0;
#pragma omp parallel num_threads(4) reduction(+ : n)
  n++;
  printf("handler %d\n", n);
}
__attribute__((destructor)) static void after(void) {
  int n = 0;
#pragma omp parallel num_threads(3) reduction(+ : n)
  n++;
  printf("destructor %d\n", n);
}
int main(void) {
  atexit(handler);
  return DONE();
}
