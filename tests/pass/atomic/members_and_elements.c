// OpenMP 5.2, section 15.8.4: atomics on array elements, structure members, bit-field neighbors and through pointers.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
struct cell { char a, b; short c; int d; double e; };
int main(void) {
  struct cell cells[8]; int histogram[16] = {0}, *p = &histogram[3];
  memset(cells, 0, sizeof cells);
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (int i = 0; i < 800; i++) {
    struct cell *it = &cells[i % 8];
#pragma omp atomic
    it->a += 1;
#pragma omp atomic
    it->b -= 1;
#pragma omp atomic
    it->c += 2;
#pragma omp atomic
    it->d |= 1 << i / 8 % 20;
#pragma omp atomic
    it->e += 0.5;
#pragma omp atomic
    histogram[i * i % 16]++;
#pragma omp atomic
    *p += 1;
  }
  for (int i = 0; i < 8; i++) CHECK(cells[i].a == 100 && cells[i].b == -100 && cells[i].c == 200 && cells[i].d == 0xfffff && cells[i].e == 50);
  CHECK(histogram[0] == 200 && histogram[1] == 200 && histogram[4] == 200 && histogram[9] == 200 && histogram[3] == 800);
  return DONE();
}
