// OpenMP 5.2, section 15.5: taskwait with a depend clause.
// exit: 125
// stderr-has: __kmpc_omp_taskwait_deps_51
// stderr-has: taskwait_depend.c:7
int main(void) {
  int x = 0;
#pragma omp taskwait depend(in : x)
  return x;
}
