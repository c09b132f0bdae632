// Switches over char, short, enum and bool, and a switch around a loop (Duff's device).
#include <stdio.h>
enum e { A = -5, B = 3, C = 1000 };
static int fe(enum e x) {
  switch (x) {
  case A: return 1;
  case B: return 2;
  case C: return 3;
  }
  return 4;
}
static int fc(signed char c) {
  switch (c) {
  case -128: return 1;
  case -1: return 2;
  case 127: return 3;
  default: return 0;
  }
}
static int fs(unsigned short c) {
  switch (c) {
  case 0: return 1;
  case 65535: return 2;
  case 32768: return 3;
  default: return 0;
  }
}
static void duff(char *to, const char *from, int n) {
  int k = (n + 3) / 4;
  switch (n & 3) {
  case 0: do { *to++ = *from++;
    case 3: *to++ = *from++;
    case 2: *to++ = *from++;
    case 1: *to++ = *from++;
    } while (--k > 0);
  }
}
int main(void) {
  volatile int v[] = {-128, -1, 127, 0, 65535, 32768, -5, 3, 1000};
  for (int i = 0; i < 9; i++)
    printf("%d%d%d ", fc((signed char)v[i]), fs((unsigned short)v[i]), i < 6 ? 0 : fe((enum e)v[i]));
  char b[20] = {0};
  duff(b, "hello, duff device", 13);
  puts(b);
  return 0;
}
