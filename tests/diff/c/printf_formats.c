// flags: -Wno-format
// printf flags, widths, precisions and length modifiers.
#include <stdio.h>
#include <stdint.h>
#include <stddef.h>
#include <inttypes.h>
#include <wchar.h>
int main(void) {
  printf("[%5d][%-5d][%05d][%+d][% d][%x][%#x][%#o][%X][%.3d][%8.3d]\n", 42, 42, 42, 42, 42, 255, 255, 8, 0xabc, 7, 7);
  printf("[%hhd][%hd][%ld][%lld][%jd][%zu][%td][%" PRIu64 "][%" PRIx8 "]\n", (char)300, (short)70000, -5l, 1ll << 60,
         (intmax_t)-1, (size_t)9, (ptrdiff_t)-9, UINT64_MAX, (uint8_t)0xab);
  printf("[%f][%.2f][%10.3e][%-12g][%G][%a][%.0f][%#.0f][%+.1f][%Lf][%.3Lg]\n", 3.14159, 2.005, 12345.678, 1e-10, 1e20,
         1.0, 2.5, 3.0, -0.05, 1.5L, 1e-5L);
  printf("[%s][%10s][%-10s][%.2s][%c][%%][%5c][%ls][%lc]\n", "str", "right", "left", "cut", 'c', 'r', L"wide",
         (wint_t)L'w');
  printf("[%p][%d][%i][%u]\n", (void *)0, -1, -2, -3u);
  printf("%2$s %1$s\n", "a", "b");
  return 0;
}
