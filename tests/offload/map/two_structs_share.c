// OpenMP 5.2, section 5.8.3: two structures whose pointers share a target: one copy on the device, counted.
#include "../../check.h"
struct view { int from, to; int *data; };
int main(void) {
  int data[20];
  for (int i = 0; i < 20; i++) data[i] = i;
  struct view a = {0, 10, data}, b = {10, 20, data};
  int d = omp_get_default_device();
#pragma omp target enter data map(to : a, a.data[0 : 20])
#pragma omp target enter data map(to : b, b.data[0 : 20])
#pragma omp target
  {
    for (int i = a.from; i < a.to; i++) a.data[i] += 100;
    for (int i = b.from; i < b.to; i++) b.data[i] += a.data[i - 10];
  }
#pragma omp target exit data map(from : a.data[0 : 20]) map(release : a)
  CHECK(omp_target_is_present(data, d) && data[0] == 0);
#pragma omp target exit data map(from : b.data[0 : 20]) map(release : b)
  CHECK(!omp_target_is_present(data, d));
  for (int i = 0; i < 10; i++) CHECK(data[i] == 100 + i && data[i + 10] == i + 10 + 100 + i);
  return DONE();
}
