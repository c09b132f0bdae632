// OpenMP 5.2, sections 5.2 and 5.4.3: threadprivate variables, and private arrays, that each iteration writes completely
// before it reads them, and ones that iterations only add to, on a device without `target`.
// flags: -g
#include "../check.h"
#include <math.h>
enum { N = 500, LONG = 6000, BINS = 10, MANY = 40 };
static double batch[LONG], rows[40][50];
static int words[LONG];
static double counted[BINS];
static long hits[MANY];
#pragma omp threadprivate(batch, rows, words, counted, hits)
static __thread float last[8];
static double out[N], total[BINS], want[BINS];
static void fill(int n, double from, double *to) {
  for (int i = 0; i < n; i++) {
    from = fmod(from * 7 + 3, 1000);
    to[i] = from;
  }
}
static double used(int k, double *at) {
  fill(LONG, k, at);
  double sum = 0;
  for (int i = 0; i < LONG; i += 3) sum += at[(i * 7 + k) % LONG];
  return sum;
}
static void whole(void) {
#pragma omp parallel for
  for (int k = 0; k < N; k++) out[k] = used(k, batch);
  double *scratch = malloc(sizeof(double) * LONG);
  for (int k = 0; k < N; k++) CHECK(out[k] == used(k, scratch));
  free(scratch);
}
static void ways(void) {
  // Downwards, four at a time, in rows, and by a fill.
#pragma omp parallel for schedule(dynamic, 3)
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < LONG; i++) words[LONG - 1 - i] = (LONG - 1 - i) ^ k;
    for (int i = 0; i < LONG; i += 4) {
      batch[i] = words[i];
      batch[i + 1] = words[LONG - 1 - i];
      batch[i + 2] = k;
      batch[i + 3] = i;
    }
    for (int i = 0; i < 40; i++)
      for (int j = 0; j < 50; j++) rows[i][j] = batch[(i * 50 + j + k) % LONG];
    memset(last, 0, sizeof last);
    last[k % 8] += (float)rows[k % 40][k % 50];
    out[k] = last[k % 8] + rows[39][49];
  }
  for (int k = 0; k < N; k++) {
    double made[2];
    for (int m = 0; m < 2; m++) {
      int at = (m ? 1999 : k % 40 * 50 + k % 50) + k, i = at % LONG / 4 * 4;
      double four[4] = {i ^ k, (LONG - 1 - i) ^ k, k, i};
      made[m] = four[at % LONG % 4];
    }
    CHECK(out[k] == made[0] + made[1]);
  }
}
static void count(int n) {
  // As in the NAS benchmark EP: zeroed before the loop, accumulated in it, summed behind it.
  double sum = 0;
  memset(total, 0, sizeof total), memset(want, 0, sizeof want);
#pragma omp parallel
  {
    for (int i = 0; i < BINS; i++) counted[i] = 0;
#pragma omp for reduction(+ : sum) nowait
    for (int k = 0; k < n; k++) {
      fill(LONG, k, batch);
      for (int i = 0; i < 100; i++) {
        counted[(int)batch[i * 60] / 100] += 1.0;
        sum += batch[i];
      }
    }
    for (int i = 0; i < BINS; i++) {
#pragma omp atomic
      total[i] += counted[i];
    }
  }
  double other = 0, *mine = malloc(sizeof(double) * LONG);
  for (int k = 0; k < n; k++) {
    fill(LONG, k, mine);
    for (int i = 0; i < 100; i++) want[(int)mine[i * 60] / 100] += 1, other += mine[i];
  }
  for (int i = 0; i < BINS; i++) CHECK(total[i] == want[i]);
  CHECK(sum == other);
  free(mine);
}
static void critical(int n) {
  // Integers, without a reduction; one of the loops adds twice as much.
  long all[MANY] = {0}, before = 5;
#pragma omp parallel
  {
    memset(hits, 0, sizeof hits);
#pragma omp for schedule(dynamic)
    for (int k = 0; k < n; k++) hits[k * 7 % MANY]++;
#pragma omp for nowait
    for (int k = 0; k < n; k++) {
      hits[k % MANY] += 2 * k;
      if (k % 3 == 0) hits[k % 5] -= k;
    }
#pragma omp critical
    {
      for (int i = 0; i < MANY; i++) all[i] += hits[i];
      before += hits[3];
    }
  }
  long sum[MANY] = {0};
  for (int k = 0; k < n; k++) {
    sum[k * 7 % MANY]++, sum[k % MANY] += 2 * k;
    if (k % 3 == 0) sum[k % 5] -= k;
  }
  for (int i = 0; i < MANY; i++) CHECK(all[i] == sum[i]);
  CHECK(before == 5 + sum[3]);
}
static void private(int n) {
  // Private arrays of the region, in a sequential loop.
  int all[8] = {0};
  double squares[8] = {0};
#pragma omp parallel
  for (int round = 0; round < 3; round++) {
    int mine[8] = {0};
    double parts[8] = {0};
#pragma omp for
    for (int k = 0; k < n; k++) {
      mine[k % 8] += round;
      parts[(k + round) % 8] += k % 11;
      if (k % 2) parts[0] -= 2;
    }
    for (int i = 0; i < 8; i++) {
#pragma omp atomic
      all[i] += mine[i];
#pragma omp atomic
      squares[i] += parts[i];
    }
#pragma omp barrier
  }
  double other[8] = {0};
  for (int round = 0; round < 3; round++)
    for (int k = 0; k < n; k++) {
      other[(k + round) % 8] += k % 11;
      if (k % 2) other[0] -= 2;
    }
  for (int i = 0; i < 8; i++) CHECK(all[i] == 3 * ((n + 7 - i) / 8) && squares[i] == other[i]);
}
int main(void) {
  whole();
  ways();
  for (int n = 0; n < 400; n = 3 * n + 1) count(n), critical(n), private(n);
  whole();
  return DONE();
}
