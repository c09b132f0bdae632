// Several devices as one: a small table that all threads read gets copies once kernels read it again
// unchanged, and the copies follow each change.
// options: --device=emulated:3 --devices=all --offload-report
// env: OMP_TARGET_OFFLOAD=mandatory
// flags: -g
// stderr-has: , 8000 bytes: a copy on each device, since all threads read it
#include "../../check.h"
enum { N = 30000, TABLE = 1000, ROUNDS = 12 };
static long table[TABLE], sums[N], expected[N];
int main(void) {
  for (int i = 0; i < TABLE; i++)
    table[i] = i;
#pragma omp target enter data map(to : table, sums)
  for (int round = 0; round < ROUNDS; round++) {
    if (round % 3 == 1) { // the host changes a part
      for (int i = 100; i < 200; i++)
        table[i] += round;
#pragma omp target update to(table[100 : 100])
    } else if (round % 3 == 2) { // a kernel changes all
#pragma omp target teams distribute parallel for
      for (int i = 0; i < TABLE; i++)
        table[i] = 3 * table[i] + 1;
      for (int i = 0; i < TABLE; i++)
        table[i] = 3 * table[i] + 1;
    }
    for (int launch = 0; launch < 4; launch++) {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        sums[i] += table[sums[i] % TABLE] + table[(i * 7 + launch) % TABLE];
      for (int i = 0; i < N; i++)
        expected[i] += table[expected[i] % TABLE] + table[(i * 7 + launch) % TABLE];
    }
  }
#pragma omp target exit data map(from : sums) map(release : table)
  for (int i = 0; i < N; i++)
    CHECK(sums[i] == expected[i]);
  return DONE();
}
