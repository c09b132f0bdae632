// An integer division by zero in a region.
// signal: 6
// stderr-has: an integer division by zero
// stderr-has: division.c:8
int main(void) {
  int a = 5, b = 0, c = 0;
#pragma omp target map(from : c)
  c = a / b;
  return c;
}
