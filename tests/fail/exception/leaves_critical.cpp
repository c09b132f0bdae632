// An exception may not leave a critical construct.
// levels: O0 O2
// signal: 6
// stderr-has: terminate
volatile int yes = 1;
int main() {
#pragma omp parallel num_threads(2)
  {
    try {
#pragma omp critical
      if (yes) throw 1;
    } catch (int) {
    }
  }
  return 0;
}
