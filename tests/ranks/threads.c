// OpenMP 5.2, section 13.8: several threads use one device of another rank at once.
// options: --device=emulated
#include "../check.h"
int main(void) {
  int last = omp_get_num_devices() - 1, total = 0, wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : total, wrong)
  for (int k = 0; k < 25; k++) {
    int v[300], me = omp_get_thread_num(), sum = 0;
    for (int i = 0; i < 300; i++) v[i] = me;
#pragma omp target data device(last) map(to : v)
    {
#pragma omp target teams distribute parallel for device(last) reduction(+ : sum)
      for (int i = 0; i < 300; i++) sum += v[i] + k;
    }
    wrong += sum != 300 * (me + k);
    total++;
  }
  CHECK(wrong == 0 && total == 100);
  return DONE();
}
