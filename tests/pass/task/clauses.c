// OpenMP 5.2, sections 12.1 to 12.4: untied, final, mergeable and priority. A final task's tasks are executed at once, by its thread.
// native: libomp 19 and 22 abort on untied with if
// stdout: ok
#include "../../check.h"
static int fib(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task untied shared(a)
  a = fib(n - 1);
#pragma omp task untied shared(b) if (n > 5)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(int argc, char **argv) {
  (void)argv;
  int result = 0, finals = 0, n = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task untied priority(3) final(argc > 5) mergeable shared(n)
    n++;
    result = fib(15);
    CHECK(!omp_in_final());
#pragma omp task final(1) shared(finals)
    {
      CHECK(omp_in_final());
      int me = omp_get_thread_num();
      for (int i = 0; i < 10; i++) {
        int seen = 0;
#pragma omp task shared(finals, seen) firstprivate(me)
        {
          CHECK(omp_in_final() && omp_get_thread_num() == me);
          seen = 1;
          finals++;
        }
        CHECK(seen);
      }
    }
  }
  CHECK(result == 610 && finals == 10 && n == 1);
  return DONE();
}
