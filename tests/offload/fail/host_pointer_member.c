// A structure is mapped, but not the target of its pointer.
// signal: 6
// stderr-has: an address of the host
// stderr-has: a pointer in a structure that was not mapped
// stderr-has: host_pointer_member.c:11
#include <stdlib.h>
struct s { int n, *p; };
int main(void) {
  struct s s = {3, calloc(3, sizeof(int))};
#pragma omp target map(tofrom : s)
  for (int i = 0; i < s.n; i++) s.p[i] = i;
  return 0;
}
