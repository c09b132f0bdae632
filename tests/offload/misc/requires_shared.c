// OpenMP 5.2, section 8.2: with unified shared memory a region uses the host's memory, mapped or not.
// flags: -fopenmp-version=51
// options: --device=emulated:1
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
#pragma omp requires unified_shared_memory
typedef struct Node {
  struct Node *next;
  int value;
} Node;
#pragma omp declare target
int everywhere = 3;
#pragma omp end declare target
#pragma omp begin declare target
int linked[4] = {1, 2, 3, 4};
#pragma omp end declare target
int main(void) {
  int *p = malloc(10 * sizeof *p), on_host = 1, stack[4] = {0}, *list[2] = {stack, p};
  CHECK(omp_get_num_devices() == 1);
#pragma omp target
  {
    for (int i = 0; i < 10; i++) p[i] = i;
    on_host = omp_is_initial_device();
  }
  for (int i = 0; i < 10; i++) CHECK(p[i] == i);
  // `on_host` is a private copy, for it is a scalar without a clause.
  CHECK(on_host == 1);
#pragma omp target map(tofrom : on_host)
  on_host = omp_is_initial_device();
  CHECK(on_host == 0);
  // Pointers in memory can be followed, without clauses.
  Node second = {NULL, 20}, first = {&second, 10};
  int sum = 0;
#pragma omp target map(tofrom : sum)
  for (Node *n = &first; n; n = n->next) sum += n->value, n->value++;
  CHECK(sum == 30 && first.value == 11 && second.value == 21);
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 4; i++) list[0][i] = list[1][i] + 1;
  CHECK(stack[3] == 4);
  // Global variables are the host's own.
#pragma omp target
  everywhere += 4, linked[2] = 9;
  CHECK(everywhere == 7 && linked[2] == 9);
  // A mapping changes nothing; both sides see the same at once.
#pragma omp target data map(to : p[ : 10])
  {
    p[0] = 77;
    int seen = 0;
#pragma omp target map(from : seen)
    seen = p[0], p[1] = 78;
    CHECK(seen == 77 && p[1] == 78);
  }
  CHECK(p[1] == 78);
  int *shared = omp_target_alloc(4 * sizeof *shared, omp_get_default_device());
  shared[0] = 5;
#pragma omp target is_device_ptr(shared)
  shared[1] = shared[0] + 1;
  CHECK(shared[1] == 6);
  CHECK(omp_target_is_accessible(p, 4, 0) && omp_target_is_accessible(shared, 4, 0));
  CHECK(omp_target_memcpy(p, shared, 4, 0, 4, 0, omp_get_initial_device()) == 0 && p[0] == 6);
  omp_target_free(shared, omp_get_default_device());
  free(p);
  return DONE();
}
