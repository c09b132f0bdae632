// OpenMP 5.2, section 5.5.8: a parallel reduction with the task modifier.
// exit: 125
// stderr-has: __kmpc_taskred_modifier_init
// stderr-has: parallel_task_modifier.c:8
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
  sum++;
  return sum != 2;
}
