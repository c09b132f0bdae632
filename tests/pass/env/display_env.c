// OpenMP 5.2, sections 18.15 and 21.7: omp_display_env shows the settings in force, in libomp's format.
// stdout: ok
// env: OMP_SCHEDULE=dynamic,3 OMP_NUM_THREADS=4,2 OMP_PLACES=cores(1) OMP_STACKSIZE=3M
// stderr-has: OPENMP DISPLAY ENVIRONMENT BEGIN
// stderr-has:   [host] OMP_NESTED: deprecated; max-active-levels-var=2147483647
// stderr-has:   [host] OMP_NUM_THREADS='4,2'
// stderr-has:   [host] OMP_PLACES='cores(1)'
// stderr-has:   [host] OMP_PROC_BIND='spread'
// stderr-has:   [host] OMP_SCHEDULE='dynamic,3'
// stderr-has:   [host] OMP_STACKSIZE='3M'
// stderr-has:   [host] OMP_TOOL_LIBRARIES: value is not defined
// stderr-has: OPENMP DISPLAY ENVIRONMENT END
#include "../../check.h"
int main(void) {
  omp_display_env(0);
  return DONE();
}
