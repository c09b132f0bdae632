// OpenMP 5.2, section 12.6: taskloop.
// exit: 125
// stderr-has: __kmpc_taskloop
// stderr-has: taskloop.c:7
int main(void) {
  int v[10];
#pragma omp taskloop grainsize(3)
  for (int i = 0; i < 10; i++) v[i] = i;
  return v[9] != 9;
}
