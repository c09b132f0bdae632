// Several devices as one: pointers in structures, objects with methods, templates, sums of structures' members.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
#include <cstdlib>
template <class T> class Column {
  T *data;
  int size;

public:
  Column(int n) : data(static_cast<T *>(std::malloc(sizeof(T) * n))), size(n) {
    for (int i = 0; i < n; i++)
      data[i] = T(i);
  }
  ~Column() { std::free(data); }
  void enter() {
    T *d = data;
    int n = size;
#pragma omp target enter data map(to : this[ : 1], d[ : n])
    attach();
  }
  void attach() {
    T *d = data;
#pragma omp target map(to : d[ : 0])
    data = d;
  }
  void leave() {
    T *d = data;
    int n = size;
#pragma omp target exit data map(from : d[ : n]) map(release : this[ : 1])
  }
#pragma omp begin declare target
  T &operator[](int i) { return data[i]; }
  T twice(int i) const { return data[i] * 2; }
#pragma omp end declare target
  T at(int i) const { return data[i]; }
  int count() const { return size; }
};
struct Node {
  Node *next;
  long value;
};
int main() {
  Column<double> a(4001);
  Column<int> b(4001);
  a.enter(), b.enter();
  auto *pa = &a;
  auto *pb = &b;
  double sum = 0;
  for (int s = 0; s < 3; s++) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 4001; i++)
      (*pa)[i] += (*pb)[4000 - i];
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < 4001; i++)
      sum += (*pa).twice(i);
  }
  a.leave(), b.leave();
  bool right = true;
  for (int i = 0; i < 4001; i++)
    right &= a.at(i) == i + 3.0 * (4000 - i);
  CHECK(right);
  CHECK(sum == 2.0 * (1 + 1 + 3 * 1) * 0 + 2 * (3 + 6) * (4000.0 * 4001 / 2));
  // A list, each of whose nodes points to the next.
  enum { LENGTH = 900 };
  static Node nodes[LENGTH];
  for (int i = 0; i < LENGTH; i++)
    nodes[i].next = i + 1 < LENGTH ? &nodes[i + 1] : nullptr, nodes[i].value = i;
#pragma omp target enter data map(to : nodes)
  for (int i = 0; i + 1 < LENGTH; i++) {
    Node *to = &nodes[i + 1];
    if (i % 300 == 299)
      continue;
#pragma omp target map(to : to[ : 0])
    nodes[i].next = to;
  }
  long found[3] = {0, 0, 0};
#pragma omp target teams distribute parallel for map(tofrom : found)
  for (int i = 0; i < 3; i++) {
    Node *n = &nodes[i * 300];
    for (int k = 0; k < 300; k++, n = n->next)
      found[i] += n->value, n->value += 1;
  }
#pragma omp target exit data map(from : nodes)
  for (int i = 0; i < 3; i++)
    CHECK(found[i] == 300L * (i * 300 * 2 + 299) / 2);
  for (int i = 0; i < LENGTH; i++)
    CHECK(nodes[i].value == i + 1);
  return DONE();
}
