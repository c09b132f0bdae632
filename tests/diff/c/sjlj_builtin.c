// __builtin_setjmp and __builtin_longjmp: over many frames, nested, repeatedly from one place, from several places of
// one function, and out of a callback of native code.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Buffer[5];

static Buffer outer, inner;
static volatile int visits;

__attribute__((noinline)) static int down(Buffer buffer, int n) {
  volatile char local[32];
  local[n % 32] = (char)n;
  if (n == 0)
    __builtin_longjmp(buffer, 1);
  return down(buffer, n - 1) + local[n % 32];
}

__attribute__((noinline)) static int once(int depth) {
  Buffer buffer;
  if (__builtin_setjmp(buffer) == 0)
    return down(buffer, depth);
  return depth * 2;
}

__attribute__((noinline)) static int retry(int limit) {
  Buffer buffer;
  volatile int tries = 0;
  if (__builtin_setjmp(buffer))
    tries = tries + 1;
  if (tries < limit)
    down(buffer, tries % 5);
  return tries;
}

__attribute__((noinline)) static int two_places(int which) {
  Buffer first, second;
  if (__builtin_setjmp(first))
    return 1;
  if (__builtin_setjmp(second))
    return 2;
  down(which ? second : first, 3);
  return 0;
}

__attribute__((noinline)) static int nested(void) {
  volatile int path = 0;
  if (__builtin_setjmp(outer) == 0) {
    path += 1;
    if (__builtin_setjmp(inner) == 0) {
      path += 10;
      down(inner, 4);
    } else {
      path += 100;
      down(outer, 2);
    }
  } else {
    path += 1000;
  }
  return path;
}

static int compare(const void *a, const void *b) {
  visits = visits + 1;
  if (visits == 5)
    down(outer, 1);
  return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int out_of_sort(void) {
  int list[] = {4, 7, 1, 9, 3, 8, 2};
  visits = 0;
  if (__builtin_setjmp(outer))
    return visits;
  qsort(list, 7, sizeof *list, compare);
  return -1;
}

// Each iteration fills its buffer at the same place; the jump goes to the last one.
__attribute__((noinline)) static int in_loop(int n) {
  static Buffer all[8];
  volatile int at = 0, back = 0;
  for (at = 0; at < n; at = at + 1)
    if (__builtin_setjmp(all[at])) {
      back = back + at;
      break;
    }
  if (back == 0 && at == n)
    down(all[n - 1], 2);
  return at * 10 + back;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 300; i++)
    sum += once(i % 17);
  printf("%d\n", sum);
  printf("%d\n", retry(50));
  printf("%d %d\n", two_places(0), two_places(1));
  printf("%d\n", nested());
  printf("%d\n", out_of_sort());
  printf("%d\n", in_loop(6) > 0);
}
