// Memory that a region allocates: lists that threads build, walk and free, kept between regions by a pointer on the device.
// not-on: processors
#include "../../check.h"
struct node { int value; struct node *next; };
#pragma omp begin declare target
struct node *head;
#pragma omp end declare target
int main(void) {
  int sum = 0, freed = 0;
#pragma omp target parallel num_threads(16)
  for (int k = 0; k < 4; k++) {
    struct node *n = malloc(sizeof *n);
    n->value = 4 * omp_get_thread_num() + k;
#pragma omp critical
    {
      n->next = head;
      head = n;
    }
  }
#pragma omp target map(tofrom : sum, freed)
  while (head) {
    struct node *n = head;
    sum += n->value;
    head = n->next;
    free(n);
    freed++;
  }
  CHECK(freed == 64 && sum == 63 * 32);
  return DONE();
}
