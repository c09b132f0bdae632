// Members of a class mapped through this.
#include "../../check.h"
class Field {
  int n;
  double *data;
public:
  explicit Field(int count) : n(count), data(new double[count]) {
    for (int i = 0; i < n; i++) data[i] = i;
    double *d = data;
#pragma omp target enter data map(to : this[0 : 1], data[0 : n])
    (void)d;
  }
  ~Field() {
#pragma omp target exit data map(delete : data[0 : n], this[0 : 1])
    delete[] data;
  }
  void scale(double by) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) data[i] *= by;
  }
  void fetch() {
#pragma omp target update from(data[0 : n])
  }
  double at(int i) const { return data[i]; }
};
int main() {
  Field f(40);
  f.scale(2);
  f.scale(1.5);
  CHECK(f.at(3) == 3);
  f.fetch();
  for (int i = 0; i < 40; i++) CHECK(f.at(i) == 3 * i);
  return DONE();
}
