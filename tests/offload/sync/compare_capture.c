// OpenMP 5.2, section 15.8.4: compare with capture, a lock made of it, and minima of several types.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int word = 5, won = 0, least = 1000, most = -1000;
  unsigned uleast = 1000;
#pragma omp target teams distribute parallel for num_teams(4) map(tofrom : word, won, least, most, uleast)
  for (int i = 0; i < 200; i++) {
    int old;
#pragma omp atomic compare capture
    { old = word; if (word == 5) { word = 6; } }
    if (old == 5) {
#pragma omp atomic
      won++;
    }
    int v = (i * 37) % 200 - 50;
    unsigned u = i + 3;
#pragma omp atomic compare
    if (v < least) { least = v; }
#pragma omp atomic compare
    if (v > most) { most = v; }
#pragma omp atomic compare
    if (u < uleast) { uleast = u; }
  }
  CHECK(word == 6 && won == 1 && least == -50 && most == 149 && uleast == 3);
  return DONE();
}
