// OpenMP 5.2, section 10.1: setjmp and longjmp that stay within one thread's part of a region are well defined.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <setjmp.h>
static void leave(jmp_buf *env, int code) { longjmp(*env, code); }
int main(void) {
  int got[4] = {0};
#pragma omp parallel num_threads(4)
  {
    jmp_buf env;
    int me = omp_get_thread_num(), code = setjmp(env);
    if (code == 0) leave(&env, me + 1);
    got[omp_get_thread_num()] = code;
  }
  for (int i = 0; i < 4; i++) CHECK(got[i] == i + 1);
  return DONE();
}
