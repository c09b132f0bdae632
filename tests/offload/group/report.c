// Several devices as one: the report tells how a region was divided, and where each array lay and why.
// options: --device=emulated:3 --devices=all --offload-report
// env: OMP_TARGET_OFFLOAD=mandatory
// flags: -g
// stderr-has: divided among 3 devices
// stderr-has: , 240000 bytes: striped, since the region writes it, 0 bytes between devices
// stderr-has: , 240000 bytes: striped, since threads read parts of their own, 0 bytes between devices
// stderr-has: , 32000 bytes: a copy on each device, since all threads read it, 128000 bytes between devices
// stderr-has: on one device: it has one team
// stderr-has: , 240000 bytes: striped, so the rest is used over the links, 0 bytes between devices
#include "../../check.h"
enum { N = 30000, TABLE = 4000 };
static double sums[N], own[N], table[TABLE];
int main(void) {
  double total = 0;
  for (int i = 0; i < N; i++)
    own[i] = i;
  for (int i = 0; i < TABLE; i++)
    table[i] = i % 7;
  for (int round = 0; round < 2; round++) {
#pragma omp target teams distribute parallel for map(tofrom : sums) map(to : own, table)
    for (int i = 0; i < N; i++)
      sums[i] = own[i] + table[(int)own[i] % TABLE];
  }
#pragma omp target map(to : sums) map(tofrom : total)
  for (int i = 0; i < N; i++)
    total += sums[i];
  CHECK(sums[1] == 2 && sums[29999] == 29999 + 1999 % 7 && total > 4e8);
  return DONE();
}
