// A mapping extends an array section that is already mapped.
// signal: 6
// stderr-has: are mapped already
// stderr-has: in the target region at
// stderr-has: extended.c:9 (main)
int main(void) {
  int v[20] = {0};
#pragma omp target enter data map(to : v[0 : 10])
#pragma omp target map(tofrom : v[5 : 10])
  v[6] = 1;
  return 0;
}
