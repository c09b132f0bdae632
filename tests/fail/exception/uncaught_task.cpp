// An exception that leaves a task ends the program through std::terminate, no matter which thread executes the task.
// env: OMP_NUM_THREADS=4
// signal: 6
// stderr-has: terminate called after throwing an instance of 'int'
int main() {
  int x[16] = {0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 16; i++) {
#pragma omp task shared(x) firstprivate(i)
    {
      x[i] = i;
      if (i == 7) throw 7;
    }
  }
  return x[3];
}
