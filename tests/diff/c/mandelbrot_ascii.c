// A small Mandelbrot set in double and in fixed point.
#include <stdio.h>
int main(void) {
  for (int r = 0; r < 16; r++) {
    for (int c = 0; c < 48; c++) {
      double x = 0, y = 0, a = c / 16.0 - 2.2, b = r / 7.0 - 1.1;
      int n = 0;
      while (n < 40 && x * x + y * y < 4) {
        double t = x * x - y * y + a;
        y = 2 * x * y + b;
        x = t;
        n++;
      }
      putchar(" .:-=+*#%@"[n / 4 % 10]);
    }
    puts("");
  }
  unsigned h = 0;
  for (int i = 0; i < 400; i++) {
    long a = (i % 20 - 14) * 4096l / 8, b = (i / 20 - 10) * 4096l / 8, x = 0, y = 0;
    int n = 0;
    while (n < 30 && x * x + y * y < 4l << 24) {
      long t = ((x * x - y * y) >> 12) + a;
      y = (x * y >> 11) + b;
      x = t;
      n++;
    }
    h = h * 31 + (unsigned)n;
  }
  printf("%u\n", h);
  return 0;
}
