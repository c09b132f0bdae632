// Values that are live after a loop, by each of its exits: compiled code that was entered in a loop hands them to the interpreter at the loop's exit.
// env: OMPVM_CHAOS=9
#include <stdio.h>
#include <string.h>

#define APART static __attribute__((noinline))

typedef struct {
  long sum;
  int last;
  double part;
} Found;

static volatile int never;

// Two exits, and a return from an inner loop.
APART int find(const int *numbers, int rows, int columns, int what, Found *found) {
  long sum = 0;
  double part = 0.5;
  int i, j = 0;
  for (i = 0; i < rows; i++) {
    for (j = 0; j < columns; j++) {
      int n = numbers[i * columns + j];
      sum += n;
      part = part * 0.75 + n;
      if (n == what)
        return i * 1000 + j;
      if (n == what + 1)
        goto next_to_it;
    }
    if (sum > 100000)
      break;
  }
  *found = (Found){sum, i * 10 + j, part};
  return -1;
next_to_it:
  *found = (Found){-sum, i * 10 + j, part};
  return -2;
}

// A switch with several edges to one block, and values of every width that outlive the loop.
APART void widths(int steps) {
  _Bool flag = 0;
  char c = 1;
  unsigned short s = 1;
  float f = 1;
  long double x = 1;
  __int128 wide = 1;
  unsigned k = 7;
  const char *text = "none";
  int i;
  for (i = 0; i < steps; i++) {
    k = k * 1664525u + 1013904223u;
    flag = flag != (k >> 31);
    c = c * 3 + i;
    s += k;
    f = f * 0.5f + i;
    x = x / 3 + i;
    wide = wide * 5 + k;
    switch (k >> 24) {
    case 1:
    case 77:
      text = "early";
      goto out;
    case 200:
      text = "late";
      goto out;
    case 13:
      if (never)
        return;
      continue;
    }
  }
out:
  printf("%d %d %d %u %g %.15Lg %llx%016llx %s\n", i, flag, c, s, f, x, (unsigned long long)(wide >> 64), (unsigned long long)wide, text);
}

// A value of an inner loop that the outer loop's next iteration uses, and addresses computed from one.
APART long chained(long *area, int n) {
  long *at = area, total = 0;
  for (int round = 0; round < 6; round++) {
    long *begin = at;
    while (at < area + n && *at % 7 != round)
      at++;
    total = total * 3 + (at - begin) * 10 + (at < area + n ? at[0] + at[1] : 5);
    if (at == area + n)
      at = area + round;
  }
  return total;
}

// Vectors that are live after the loop.
typedef double Pair __attribute__((vector_size(16)));
typedef unsigned Four __attribute__((vector_size(16)));
typedef int Mask __attribute__((vector_size(16)));
APART void vectors(int n) {
  Pair p = {1, 2};
  Four q = {1, 2, 3, 4};
  Mask mask = {0, 0, 0, 0};
  for (int i = 0; i < n; i++) {
    p = p * (Pair){0.5, 0.25} + (Pair){i, -i};
    q = q * 3 + i;
    mask = q > 100u * i;
    if (q[2] % 11 == 3)
      break;
  }
  printf("%g %g %u %u %u %u %d %d\n", p[0], p[1], q[0], q[1], q[2], q[3], mask[0], mask[3]);
}

// The loop's own memory does not move.
APART int local_memory(int n) {
  int table[16];
  memset(table, 0, sizeof table);
  int *last = table;
  for (int i = 0; i < n; i++) {
    last = &table[(i * 7) % 16];
    *last += i;
  }
  int sum = 0;
  for (int i = 0; i < 16; i++)
    sum = sum * 3 + table[i];
  return sum + (int)(last - table);
}

APART int on_the_stack(int n) {
  int sum = 0;
  char *kept = 0;
  for (int i = 1; i < n; i++) {
    char *block = __builtin_alloca(i);
    memset(block, i, i);
    if (kept)
      sum += kept[0] + block[i - 1];
    kept = block;
  }
  return sum + (kept ? kept[0] : 0);
}

int main(void) {
  static int numbers[40 * 25];
  for (int i = 0; i < 40 * 25; i++)
    numbers[i] = (i * 37) % 1009;
  static const int wanted[] = {37, 5000, 400, 1008, -1, 700};
  for (int k = 0; k < 6; k++) {
    Found found = {0, 0, 0};
    int at = find(numbers, 40, 25, wanted[k], &found);
    printf("%d %ld %d %g\n", at, found.sum, found.last, found.part);
  }
  for (int steps = 0; steps < 400; steps += 57)
    widths(steps);
  static long area[200];
  for (int i = 0; i < 200; i++)
    area[i] = (i * i) % 23;
  printf("%ld %ld %ld\n", chained(area, 150), chained(area, 3), chained(area, 0));
  for (int n = 0; n < 60; n += 19)
    vectors(n);
  printf("%d %d %d\n", local_memory(0), local_memory(5), local_memory(1000));
  printf("%d %d\n", on_the_stack(1), on_the_stack(60));
  return 0;
}
