// Options that -ffast-math implies, but that do not make a link flush denormals.
// flags: -ffinite-math-only -fno-signed-zeros
// levels: O0 O2
// stdout: kept 5 of 5
#include "../../check.h"

static volatile double least = 0x1p-1022, half = 0.5;

int main(void) {
  int kept = least * half > 0;
#pragma omp parallel num_threads(4) reduction(+ : kept)
  kept += least * half > 0;
  printf("kept %d of 5\n", kept);
}
