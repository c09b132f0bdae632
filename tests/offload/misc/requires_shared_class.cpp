// OpenMP 5.2, section 8.2: objects, a vector and a list of the host's, in regions with unified shared memory.
// flags: -fopenmp-version=52
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
#include <list>
#include <vector>
#pragma omp requires unified_shared_memory
struct Matrix {
  std::vector<std::vector<double>> rows;
  Matrix(int n);
  double trace();
};
Matrix::Matrix(int n) : rows(n, std::vector<double>(n)) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) rows[i][j] = i == j ? i : -1;
}
double Matrix::trace() {
  double t = 0;
#pragma omp target teams distribute parallel for reduction(+ : t) map(tofrom : t)
  for (size_t i = 0; i < rows.size(); i++) t += rows[i][i];
  return t;
}
int main() {
  Matrix m(50);
  CHECK(m.trace() == 1225 && m.rows[3][4] == -1);
  std::list<int> l = {1, 2, 3};
  int sum = 0;
#pragma omp target map(tofrom : sum)
  for (int x : l) sum += x;
  CHECK(sum == 6);
  return DONE();
}
