// OpenMP 5.2, section 15.4: taskgroup.
// exit: 125
// stderr-has: __kmpc_taskgroup
// stderr-has: taskgroup.c:7
int main(void) {
  int x = 0;
#pragma omp taskgroup
  x++;
  return x != 1;
}
