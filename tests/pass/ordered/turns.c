// OpenMP 5.2, section 15.10: the ordered parts of a loop are executed in the order of its iterations, with many threads, chunks
// of any size, and iterations that have no ordered part.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=12
#include "../../check.h"

enum { N = 203 };
#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#define LOOP(...)                                                                                  \
  do {                                                                                             \
    long next = 0, seen = 0;                                                                       \
    PRAGMA(omp parallel for ordered schedule(__VA_ARGS__)) for (long i = 0; i < N; i++) {               \
      if (i % 7 != 3) {                                                                            \
        _Pragma("omp ordered") {                                                                   \
          CHECK(i >= next);                                                                        \
          next = i + 1;                                                                            \
          seen++;                                                                                  \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    CHECK(next == N && seen == N - (N - 3 + 6) / 7);                                               \
  } while (0)

int main(void) {
  for (int round = 0; round < 5; round++) {
    LOOP(static, 1);
    LOOP(static, 3);
    LOOP(static);
    LOOP(dynamic, 1);
    LOOP(dynamic, 5);
    LOOP(guided, 2);
  }
  return DONE();
}
