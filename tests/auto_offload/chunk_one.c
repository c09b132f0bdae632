// OpenMP 5.2, section 11.7: leagues on the host whose loops have chunks of a few iterations, one above all: compilers
// then compare with the end of the team's part.
#include "../check.h"
enum { N = 23 };
#define SUM(TYPE, SCHEDULE)                                                                                         \
  {                                                                                                                 \
    TYPE a[N] = {0};                                                                                                \
    _Pragma(SCHEDULE)                                                                                               \
    for (TYPE i = 0; i < N; i++)                                                                                    \
      a[i] += i + 1;                                                                                                \
    for (int i = 0; i < N; i++)                                                                                     \
      CHECK(a[i] == (TYPE)i + 1);                                                                                   \
  }
int main(void) {
  SUM(int, "omp teams distribute parallel for num_teams(5) schedule(static, 1)")
  SUM(long, "omp teams distribute parallel for num_teams(5) schedule(static, 1)")
  SUM(unsigned, "omp teams distribute parallel for num_teams(5) schedule(static, 1)")
  SUM(unsigned long, "omp teams distribute parallel for num_teams(5) schedule(static, 1)")
  SUM(long, "omp teams distribute parallel for num_teams(5) schedule(static, 3)")
  SUM(long, "omp teams distribute parallel for simd num_teams(5) schedule(static, 1)")
  return DONE();
}
