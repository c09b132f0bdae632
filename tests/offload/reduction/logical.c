// OpenMP 5.2, section 5.5: && and || over integers, bool and floating point.
#include <stdbool.h>
#include "../../check.h"
int main(void) {
  for (int bad = -1; bad < 100; bad += 50) {
    int all = 1, any = 0;
    bool ball = true, bany = false;
    double dall = 2.5, dany = 0;
#pragma omp target teams distribute parallel for reduction(&& : all, ball, dall) reduction(|| : any, bany, dany)
    for (int i = 0; i < 100; i++) {
      all = all && i != bad, ball = ball && i != bad, dall = dall && i != bad;
      any = any || i == bad, bany = bany || i == bad, dany = dany || i == bad;
    }
    CHECK(all == (bad < 0) && ball == (bad < 0) && (dall != 0) == (bad < 0));
    CHECK(any == (bad >= 0) && bany == (bad >= 0) && (dany != 0) == (bad >= 0));
  }
  return DONE();
}
