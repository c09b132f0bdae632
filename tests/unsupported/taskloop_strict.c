// OpenMP 5.2, section 12.6.1: taskloop with a strict modifier has a runtime entry of its own.
// flags: -fopenmp-version=51
// exit: 125
// stderr-has: __kmpc_taskloop_5
// stderr-has: taskloop_strict.c:8
int main(void) {
  int v[10];
#pragma omp taskloop num_tasks(strict : 5)
  for (int i = 0; i < 10; i++) v[i] = i;
  return v[9] != 9;
}
