// OpenMP 5.2, section 5.8: lambdas that capture this, by reference and by copy, in regions of member functions.
#include "../../check.h"
struct Field {
  int n, bias;
  double *data;
  double total(double factor) {
    double sum = 0;
    auto at = [this](int i) { return data[i] + bias; };
#pragma omp target teams distribute parallel for map(to : this[0 : 1], data[0 : n]) reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += factor * at(i);
    return sum;
  }
  void scale(double by) {
#pragma omp target teams distribute parallel for map(tofrom : data[0 : n])
    for (int i = 0; i < n; i++) {
      auto f = [=](double x) { return x * by + bias; };
      data[i] = f(data[i]);
    }
  }
};
int main() {
  double v[20];
  for (int i = 0; i < 20; i++) v[i] = i;
  Field f = {20, 2, v};
  CHECK(f.total(0.5) == 0.5 * (190 + 40));
  f.scale(3);
  for (int i = 0; i < 20; i++) CHECK(v[i] == 3.0 * i + 2);
  return DONE();
}
