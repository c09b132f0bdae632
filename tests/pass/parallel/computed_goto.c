// Labels as values: an indirect branch in a region, on all threads.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int results[4];
#pragma omp parallel num_threads(4)
  {
    static const void *const code[] = {&&add, &&twice, &&stop};
    static const char program[4][5] = {"0012", "1102", "0102", "1112"};
    int me = omp_get_thread_num(), x = 1; const char *at = program[me];
    goto *code[*at++ - '0'];
  add:
    x += 3;
    goto *code[*at++ - '0'];
  twice:
    x *= 2;
    goto *code[*at++ - '0'];
  stop:
    results[me] = x;
  }
  CHECK(results[0] == 14 && results[1] == 7 && results[2] == 11 && results[3] == 8);
  return DONE();
}
