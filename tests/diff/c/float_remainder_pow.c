// frem, fmod, remainder, pow, powi and sqrt.
#include <stdio.h>
#include <math.h>
int main(void) {
  volatile double d[] = {5.5, -7.25, 1e10, 0.3, 3.0};
  volatile int n[] = {0, 1, -2, 5, 10};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++)
      printf("%a %a %a %a %La\n", fmod(d[i], d[j]), (double)fmodf((float)d[i], (float)d[j]), remainder(d[i], d[j]),
             pow(2.0, n[j]), fmodl(d[i], d[j]));
  for (int j = 0; j < 5; j++)
    printf("%a %a %.6f\n", sqrt(fabs(d[j])), (double)sqrtf((float)fabs(d[j])), (double)sqrtl(fabsl(d[j])));
  return 0;
}
