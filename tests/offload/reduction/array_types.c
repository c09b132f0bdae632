// OpenMP 5.2, section 5.5.8: whole arrays and sections of them, of several types and operations at once.
#include "../../check.h"
int main(void) {
  double h[10] = {0};
  int m[6] = {9, 9, 9, 9, 9, 9};
  unsigned char bits[8] = {0};
#pragma omp target teams distribute parallel for reduction(+ : h) reduction(min : m[1 : 4]) reduction(| : bits)
  for (int i = 0; i < 500; i++) {
    h[i % 10] += i;
    int at = 1 + i % 4;
    if (i % 7 < m[at]) m[at] = i % 7;
    bits[i % 8] |= (unsigned char)(1 << i % 8);
  }
  for (int k = 0; k < 10; k++) CHECK(h[k] == 50.0 * k + 10.0 * 1225);
  CHECK(m[0] == 9 && m[5] == 9);
  for (int k = 1; k < 5; k++) CHECK(m[k] == 0);
  for (int k = 0; k < 8; k++) CHECK(bits[k] == 1 << k);
  return DONE();
}
