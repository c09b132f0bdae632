// Guards raise no false alarm: memory of variable size in loops, exceptions, longjmp, tail calls,
// large and aligned arrays, parallel regions and tasks.
// levels: O0 O2
// flags: -fstack-protector-all
// stdout: ok
#include "../../check.h"
#include <alloca.h>
#include <csetjmp>
#include <cstdint>
static jmp_buf place;
__attribute__((noinline)) static long blocks(int n) {
  long sum = 0;
  for (int r = 0; r < n; r++) {
    char *first = (char *)alloca(r + 1);
    memset(first, 1, r + 1);
    long numbers[r + 1];
    for (int i = 0; i <= r; i++) numbers[i] = first[i];
    for (int i = 0; i <= r; i++) sum += numbers[i];
    if (r % 5 == 4) continue;
    if (r == n - 2) break;
  }
  return sum;
}
__attribute__((noinline)) static int aligned(int n) {
  alignas(64) char lines[3][64];
  char text[7];
  memset(lines, n, sizeof lines);
  memset(text, n, sizeof text);
  return ((std::uintptr_t)lines & 63) == 0 && lines[2][63] == n && text[6] == n;
}
__attribute__((noinline)) static long large(int n) {
  double area[4000];
  for (int i = 0; i < 4000; i++) area[i] = i;
  return (long)area[n];
}
__attribute__((noinline)) static int thrown(int n) {
  char text[16];
  snprintf(text, sizeof text, "%d", n);
  if (n == 0) throw atoi(text) + 1;
  return thrown(n - 1) + text[0];
}
__attribute__((noinline)) static int jumps(int n) {
  char text[20];
  memset(text, n, sizeof text);
  char *more = (char *)alloca(n + 1);
  more[n] = 2;
  if (n == 9) longjmp(place, 3);
  return jumps(n + 1) + text[1] + more[n];
}
__attribute__((noinline)) static long last(long n, long sum) {
  char text[8] = "abcdefg";
  if (n == 0) return sum + text[0] - 'a';
  return last(n - 1, sum + n);
}
int main() {
  CHECK(blocks(20) == 190);
  CHECK(large(3999) == 3999);
  CHECK(last(1000, 0) == 500500);
  for (int i = 0; i < 5; i++) {
    CHECK(aligned(i));
    int caught = 0;
    try {
      thrown(30);
    } catch (int n) {
      caught = n;
    }
    CHECK(caught == 1);
    if (int v = setjmp(place))
      CHECK(v == 3);
    else
      jumps(0);
  }
  int good = 0;
#pragma omp parallel for reduction(+ : good)
  for (int i = 0; i < 20; i++) good += blocks(10) == 45 && large(i) == i;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; i++)
#pragma omp task shared(good)
  {
    int ok = aligned(i);
#pragma omp atomic
    good += ok;
  }
  CHECK(good == 40);
  return DONE();
}
