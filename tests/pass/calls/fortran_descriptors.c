// Calls of the functions of ISO_Fortran_binding.h (ISO/IEC 1539-1:2018, section 18.5.5) from a program without
// Fortran code: they come out of flang's runtime, too.
// levels: O0 O2
// stdout: ok
// native: needs flang's runtime
#include <ISO_Fortran_binding.h>
#include "../../check.h"

int main(void) {
  int values[3][4];
#pragma omp parallel for
  for (int i = 0; i < 12; i++)
    values[i / 4][i % 4] = i;
  CFI_CDESC_T(2) whole, section;
  CFI_cdesc_t *w = (CFI_cdesc_t *)&whole, *s = (CFI_cdesc_t *)&section;
  CFI_index_t extents[2] = {4, 3}, lower[2] = {1, 1}, upper[2] = {3, 2}, strides[2] = {2, 1};
  CHECK(CFI_establish(w, values, CFI_attribute_other, CFI_type_int, sizeof(int), 2, extents) == CFI_SUCCESS);
  CHECK(CFI_establish(s, 0, CFI_attribute_other, CFI_type_int, sizeof(int), 2, extents) == CFI_SUCCESS);
  CHECK(CFI_section(s, w, lower, upper, strides) == CFI_SUCCESS);
  CFI_index_t last[2] = {s->dim[0].lower_bound + 1, s->dim[1].lower_bound + 1};
  CHECK(CFI_is_contiguous(w) == 1 && CFI_is_contiguous(s) == 0);
  CHECK(*(int *)CFI_address(s, last) == values[2][3]);
  return DONE();
}
