// OpenMP 5.2, section 12.1: an untied task with a priority, a final and a mergeable clause.
// exit: 125
// stderr-has: __kmpc_omp_task_alloc
// stderr-has: task_priority_untied.c:7
int main(int argc, char **argv) {
  (void)argv;
#pragma omp task untied priority(3) final(argc > 5) mergeable
  argc++;
  return 0;
}
