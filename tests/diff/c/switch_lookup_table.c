// exit: 11
// Switches that clang turns into lookup tables and bit tests at -O2, and into string tables.
#include <stdio.h>
static const char *name(unsigned d) {
  switch (d) {
  case 0: return "mon";
  case 1: return "tue";
  case 2: return "wed";
  case 3: return "thu";
  case 4: return "fri";
  case 5: return "sat";
  case 6: return "sun";
  }
  return "?";
}
static double val(unsigned d) {
  switch (d) {
  case 0: return 1.5;
  case 1: return -2;
  case 2: return 1e9;
  case 3: return 0;
  case 5: return 3.25;
  default: return -1;
  }
}
static int vowel(int c) {
  switch (c) {
  case 'a':
  case 'e':
  case 'i':
  case 'o':
  case 'u': return 1;
  default: return 0;
  }
}
int main(void) {
  for (volatile unsigned i = 0; i < 9; i++) printf("%s %g\n", name(i), val(i));
  int n = 0;
  for (const char *p = "the quick brown fox jumps over the lazy dog"; *p; p++) n += vowel(*p);
  return n;
}
