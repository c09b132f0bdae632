// OpenMP 5.2, section 7.8: variables of the device that point to each other and to themselves.
#include "../../check.h"
#pragma omp begin declare target
struct node {
  int value;
  struct node *next[2];
};
extern struct node a, b;
struct node c = {4, {&c, &a}};
struct node a = {1, {&b, &c}};
struct node b = {2, {&a, &b}};
int numbers[3] = {7, 8, 9};
struct {
  int *at;
  const char *name;
} entry = {&numbers[2], "entry"};
#pragma omp end declare target
int main(void) {
  int values[5] = {0}, first = 0;
#pragma omp target map(from : values, first)
  {
    struct node *n = &a;
    values[0] = n->next[0]->value;
    values[1] = n->next[0]->next[0]->value;
    values[2] = n->next[1]->next[0]->value;
    a.value = 10;
    values[3] = b.next[1]->next[0]->value;
    values[4] = *entry.at;
    first = entry.name[0];
  }
  CHECK(values[0] == 2 && values[1] == 1 && values[2] == 4 && values[3] == 10 && values[4] == 9);
  CHECK(first == 'e');
  return DONE();
}
