// OpenMP 5.2, section 5.8.3: a linked list, element by element, its pointers attached.
#include "../../check.h"
typedef struct Node { int value; struct Node *next; } Node;
int main(void) {
  Node *head = NULL;
  for (int i = 0; i < 5; i++) {
    Node *n = malloc(sizeof *n);
    n->value = i, n->next = head, head = n;
  }
#pragma omp target enter data map(to : head[0 : 1])
  for (Node *n = head; n->next; n = n->next) {
#pragma omp target enter data map(to : n->next[0 : 1])
  }
  int sum = 0;
#pragma omp target map(tofrom : sum)
  for (Node *n = head; n; n = n->next) sum = 10 * sum + n->value;
  CHECK(sum == 43210);
  for (Node *n = head; n;) {
    Node *next = n->next;
#pragma omp target exit data map(delete : n[0 : 1])
    free(n);
    n = next;
  }
  return DONE();
}
