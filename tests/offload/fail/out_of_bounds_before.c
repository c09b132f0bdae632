// A region writes before the mapped data.
// signal: 6
// stderr-has: 4 bytes before a block of 40 bytes on the device
// stderr-has: out_of_bounds_before.c:9
int main(void) {
  int v[10], n = -1;
#pragma omp target map(tofrom : v) firstprivate(n)
  // The compiler cannot know the index.
  v[n] = 5;
  return 0;
}
