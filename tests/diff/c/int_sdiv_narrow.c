// exit: 7
// Division of signed char and short: the promotion makes INT8_MIN / -1 representable.
#include <stdio.h>
#include <stdint.h>
static volatile int8_t a8[] = {-128, -127, -1, 0, 1, 5, 127};
static volatile int16_t a16[] = {-32768, -3, -1, 0, 2, 1000, 32767};
int main(void) {
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) {
      if (a8[j]) printf("%d %d %d ", a8[i] / a8[j], a8[i] % a8[j], (int8_t)(a8[i] / a8[j]));
      if (a16[j]) printf("%d %d %d\n", a16[i] / a16[j], a16[i] % a16[j], (int16_t)(a16[i] / a16[j]));
    }
  return 7;
}
