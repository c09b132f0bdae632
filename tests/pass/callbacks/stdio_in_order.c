// printf, fprintf to memory streams and strtod from several threads; output serialized by ordered.
// levels: O0 O2
// stdout: line 0 0.00
// stdout: line 1 0.25
// stdout: line 2 0.50
// stdout: line 3 0.75
// stdout: ok
#include "../../check.h"
int main(void) {
#pragma omp parallel for ordered num_threads(4) schedule(static, 1)
  for (int i = 0; i < 4; i++) {
    char *text = 0; size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "%d %.2f", i, i * 0.25);
    fclose(f);
    CHECK(size == 6 && strtod(text + 2, 0) == i * 0.25);
#pragma omp ordered
    printf("line %s\n", text);
    free(text);
  }
  return DONE();
}
