// OpenMP 5.2, sections 13.8 and 5.8.8: C++ objects with mappers and templates on a device of
// another rank.
// options: --device=emulated
#include "../check.h"
#include <vector>
template <class T> struct Row {
  int size;
  T *data;
  T sum() const {
    T all = 0;
    for (int i = 0; i < size; i++) all += data[i];
    return all;
  }
};
using Numbers = Row<double>;
#pragma omp declare mapper(Numbers r) map(r.size, r.data[0 : r.size])
int main() {
  int last = omp_get_num_devices() - 1;
  std::vector<double> values(5000, 0.5);
  Numbers row{5000, values.data()};
  double sum = 0;
  auto twice = [](double x) { return 2 * x; };
#pragma omp target device(last) map(tofrom : row, sum)
  {
    for (int i = 0; i < row.size; i++) row.data[i] = twice(row.data[i]) + i % 2;
    sum = row.sum();
  }
  CHECK(sum == 7500 && values[1] == 2 && values[4998] == 1);
  return DONE();
}
