// exit: 12
// Byte vectors over strings: finding, case conversion and histogram with comparisons and masks.
#include <stdio.h>
#include <string.h>
typedef unsigned char b16 __attribute__((vector_size(16)));
typedef signed char s16 __attribute__((vector_size(16)));
int main(void) {
  char buf[64] = "The Quick Brown Fox Jumps Over The Lazy Dog, Twice Over Again!";
  int n[4] = {0};
  for (int i = 0; i < 64; i += 16) {
    b16 v;
    memcpy(&v, buf + i, 16);
    s16 up = (s16)(v >= 'A') & (s16)(v <= 'Z'), sp = (s16)(v == ' ');
    for (int k = 0; k < 16; k++) {
      n[0] -= up[k];
      n[1] -= sp[k];
    }
    v += (b16)up & 32;
    memcpy(buf + i, &v, 16);
  }
  printf("%d %d %.64s\n", n[0], n[1], buf);
  return n[0];
}
