// Searches that keep their best candidates in small arrays, of several element types and shapes: after unrolling
// the arrays have constant indices only, and loops change them on paths that are rarely taken.
#include <stdio.h>
#include <string.h>

enum { KEPT = 10, ALL = 4000 };

static double values[ALL];

static void fill(void) {
  unsigned state = 12345;
  for (int i = 0; i < ALL; i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = (double)(state >> 8) / (1 << 24);
  }
}

// A bubble sort step: the worst candidate is first.
static void sink(double best[2][KEPT], int at[2][KEPT], int ind) {
  for (int i = 0; i < KEPT - 1; i++) {
    int wrong = ind ? best[1][i] > best[1][i + 1] : best[0][i] < best[0][i + 1];
    if (!wrong) return;
    double value = best[ind][i + 1];
    best[ind][i + 1] = best[ind][i];
    best[ind][i] = value;
    int place = at[ind][i + 1];
    at[ind][i + 1] = at[ind][i];
    at[ind][i] = place;
  }
}

static void both_ends(void) {
  double best[2][KEPT];
  int at[2][KEPT];
  for (int i = 0; i < KEPT; i++) {
    best[0][i] = 1.0;
    best[1][i] = 0.0;
    at[0][i] = at[1][i] = -1;
  }
  for (int i = 0; i < ALL; i++) {
    if (values[i] > best[1][0]) {
      best[1][0] = values[i];
      at[1][0] = i;
      sink(best, at, 1);
    }
    if (values[i] < best[0][0]) {
      best[0][0] = values[i];
      at[0][0] = i;
      sink(best, at, 0);
    }
  }
  for (int i = KEPT - 1; i >= 0; i--) printf("%d %.6f %d %.6f\n", at[1][i], best[1][i], at[0][i], best[0][i]);
}

static void shorts_and_floats(void) {
  struct { float value[16]; short place[16]; } kept;
  memset(&kept, 0, sizeof kept);
  for (int i = 0; i < ALL; i++) {
    float v = (float)values[i] * 100;
    if (v > kept.value[15]) {
      kept.value[15] = v;
      kept.place[15] = (short)i;
      for (int k = 14; k >= 0; k--) {
        if (kept.value[k] >= kept.value[k + 1]) break;
        float f = kept.value[k];
        kept.value[k] = kept.value[k + 1];
        kept.value[k + 1] = f;
        short s = kept.place[k];
        kept.place[k] = kept.place[k + 1];
        kept.place[k + 1] = s;
      }
    }
  }
  for (int k = 0; k < 16; k++) printf("%.4f %d\n", kept.value[k], kept.place[k]);
}

// Counters of classes that are rarely hit, and a total that changes in each iteration.
static void counters(void) {
  long counts[14] = {0}, total[14] = {0};
  for (int i = 0; i < ALL; i++) {
    total[0] += i;
    total[1] ^= total[0];
    if (values[i] < 0.02) {
      for (int k = 0; k < 14; k++) counts[k] += (long)(values[i] * 1000 * (k + 1)) & 3;
    }
  }
  for (int k = 0; k < 14; k++) printf("%ld %ld\n", counts[k], total[k]);
}

// Reads behind the loop through an unknown index.
static void read_later(int which) {
  unsigned char seen[24] = {0};
  for (int i = 0; i < ALL; i++)
    if (values[i] > 0.99)
      for (int k = 0; k < 24; k++) seen[k] = (unsigned char)(seen[k] * 3 + k + i);
  int sum = 0;
  for (int k = 0; k < which; k++) sum += seen[k * 7 % 24] * (k + 1);
  printf("%d %d\n", sum, seen[which % 24]);
}

// A local array that each iteration of the outer loop fills, on one path only.
static void filled_first(void) {
  double sum = 0;
  for (int i = 0; i + 16 < ALL; i++) {
    double own[16];
    if (values[i] > 0.9) {
      for (int k = 0; k < 16; k++) own[k] = values[i + k] * k;
      for (int k = 0; k < 15; k++) own[k + 1] += own[k] * 0.5;
      sum += own[15];
    }
  }
  printf("%.9f\n", sum);
}

// Two loops around the search, and a copy of all candidates.
static void nested(void) {
  double best[KEPT + 4] = {0}, before[KEPT + 4] = {0};
  for (int row = 0; row < 40; row++)
    for (int i = 0; i < 100; i++) {
      double v = values[row * 100 + i];
      if (v > best[0]) {
        memcpy(before, best, sizeof best);
        best[0] = v;
        for (int k = 0; k + 1 < KEPT + 4; k++)
          if (best[k] > best[k + 1]) {
            double b = best[k];
            best[k] = best[k + 1];
            best[k + 1] = b;
          }
      }
    }
  for (int k = 0; k < KEPT + 4; k++) printf("%.6f %.6f\n", best[k], before[k]);
}

// Pairs and records, read behind the loop through an index that is not known and then a field of it.
static void pairs(int from) {
  double best[KEPT][2];
  int at[KEPT][3];
  struct { short low, high; } mark[KEPT];
  memset(mark, 0, sizeof mark);
  for (int k = 0; k < KEPT; k++) {
    best[k][0] = 1;
    best[k][1] = 0;
    at[k][0] = at[k][1] = at[k][2] = 0;
  }
  for (int row = 0; row < 40; row++)
    for (int i = 0; i < 100; i++) {
      double v = values[row * 100 + i];
      for (int side = 0; side < 2; side++) {
        if (side ? v <= best[0][1] : v >= best[0][0]) continue;
        best[0][side] = v;
        at[0][side] = i;
        at[0][2] = row;
        if (side) mark[0].high = (short)i; else mark[0].low = (short)row;
        for (int k = 0; k + 1 < KEPT; k++) {
          if (side ? best[k][1] <= best[k + 1][1] : best[k][0] >= best[k + 1][0]) break;
          double b = best[k][side];
          best[k][side] = best[k + 1][side];
          best[k + 1][side] = b;
          int a = at[k][side];
          at[k][side] = at[k + 1][side];
          at[k + 1][side] = a;
          short m = side ? mark[k].high : mark[k].low;
          if (side) mark[k].high = mark[k + 1].high, mark[k + 1].high = m;
          else mark[k].low = mark[k + 1].low, mark[k + 1].low = m;
        }
      }
    }
  for (int k = from; k < KEPT; k++)
    printf("%.6f %.6f %d %d %d %d %d\n", best[k][0], best[k][1], at[k][0], at[k][1], at[k][2], mark[k].low,
           mark[k].high);
}

int main(int argc, char **argv) {
  (void)argv;
  fill();
  both_ends();
  shorts_and_floats();
  counters();
  read_later(argc + 8);
  filled_first();
  nested();
  pairs(argc - 1);
  return 0;
}
