// Reads a field at an offset from a null structure pointer, two calls deep.
// levels: O0 O2
// signal: 11
// stderr-has: null_member.c:8
struct node { int value[4]; struct node *next; };
struct node *volatile head;
__attribute__((noinline)) static int second(struct node *n) {
  return n->next->value[3];
}
int main(void) {
  struct node only = {{1, 2, 3, 4}, 0};
  head = &only;
  return second(head);
}
