// OpenMP 5.2, section 7.8.1 (enter): variables and functions by name; initial values are there before the first region.
// flags: -fopenmp-version=52
#include "../../check.h"
int counter = 40;
const double weights[3] = {0.5, 0.25, 0.125};
static const int squares[5] = {0, 1, 4, 9, 16};
char text[] = "device";
int length(const char *s);
#pragma omp declare target enter(counter, weights, squares, text, length)
int length(const char *s) {
  int n = 0;
  while (s[n]) n++;
  return n + counter;
}
int main(void) {
  double sum = 0;
  int n = 0, q = 0;
#pragma omp target map(tofrom : sum, n, q)
  {
    for (int i = 0; i < 3; i++) sum += weights[i];
    for (int i = 0; i < 5; i++) q += squares[i];
    counter += 2;
    n = length(text);
    text[0] = 'D';
  }
  CHECK(sum == 0.875 && n == 48 && q == 30 && counter == 40 && text[0] == 'd');
#pragma omp target update from(counter, text)
  CHECK(counter == 42 && text[0] == 'D' && length(text) == 48);
  return DONE();
}
