// OpenMP 5.2, section 15.8.4: atomic capture hands out each ticket once, in all its forms.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int ticket = 0, seen[400] = {0}, sum = 0, old = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 100; i++) {
    int mine;
    switch (i % 4) {
    case 0:
#pragma omp atomic capture
      mine = ticket++;
      break;
    case 1:
#pragma omp atomic capture
      mine = ++ticket;
      mine--;
      break;
    case 2:
#pragma omp atomic capture
      { mine = ticket; ticket += 1; }
      break;
    default:
#pragma omp atomic capture
      { ticket = ticket + 1; mine = ticket; }
      mine--;
    }
#pragma omp atomic
    seen[mine]++;
#pragma omp atomic capture
    { old = sum; sum = sum + 2; }
  }
  for (int i = 0; i < 400; i++) CHECK(seen[i] == 1);
  CHECK(ticket == 400 && sum == 800);
  return DONE();
}
