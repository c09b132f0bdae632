// A region that never ends, with a time limit.
// env: OMPVM_TARGET_TIMEOUT=0.3
// signal: 6
// stderr-has: the region exceeded the time limit of OMPVM_TARGET_TIMEOUT
// stderr-has: endless.c:8
int main(void) {
  volatile int x = 1;
#pragma omp target map(tofrom : x)
  while (x) x = x + 2;
  return 0;
}
