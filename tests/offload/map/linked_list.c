// OpenMP 5.2, section 5.8.3: a list whose nodes are mapped one by one, each attached to the one before.
#include "../../check.h"
struct node { int value; struct node *next; };
int main(void) {
  struct node nodes[6];
  for (int i = 0; i < 6; i++) nodes[i].value = i + 1, nodes[i].next = i < 5 ? &nodes[(i + 1)] : NULL;
  struct node *heads[6];
  for (int i = 0; i < 6; i++) {
    heads[i] = malloc(sizeof(struct node));
    heads[i]->value = i + 1, heads[i]->next = NULL;
    if (i) heads[i - 1]->next = heads[i];
  }
  struct node *first = heads[0], *at;
#pragma omp target enter data map(to : first[0 : 1])
  for (at = first; at->next; at = at->next) {
#pragma omp target enter data map(to : at->next[0 : 1])
  }
  int sum = 0, length = 0;
#pragma omp target map(tofrom : sum, length)
  for (struct node *p = first; p; p = p->next) sum += p->value, p->value *= 10, length++;
  CHECK(sum == 21 && length == 6);
  for (int i = 0; i < 6; i++) {
    struct node *one = heads[i];
#pragma omp target exit data map(from : one->value)
    CHECK(one->value == 10 * (i + 1));
    CHECK(one->next == (i < 5 ? heads[i + 1] : NULL));
  }
  for (int i = 0; i < 6; i++) free(heads[i]);
  return DONE();
}
