// OpenMP 5.2, section 5.5.9: taskgroup with task_reduction.
// exit: 125
// stderr-has: __kmpc_taskred_init
// stderr-has: task_reduction.c:7
int main(void) {
  int sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  {
#pragma omp task in_reduction(+ : sum)
    sum++;
  }
  return sum != 1;
}
