// A region in which threads wait for a flag that no thread sets, with a time limit.
// env: OMPVM_TARGET_TIMEOUT=0.3
// signal: 6
// stderr-has: the region exceeded the time limit of OMPVM_TARGET_TIMEOUT
// stderr-has: in the target region at
int main(void) {
  int flag = 0;
#pragma omp target teams num_teams(2) map(tofrom : flag)
#pragma omp parallel num_threads(8)
  for (int seen = 0; !seen;) {
#pragma omp atomic read
    seen = flag;
  }
  return 0;
}
