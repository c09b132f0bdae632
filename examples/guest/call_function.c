// A kernel that the host calls: y += a * x over n values, in parallel.
double axpy(int n, double a, const double *x, double *y) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    y[i] += a * x[i];
    sum += y[i];
  }
  return sum;
}

int calls;

int element(const int *v, long i) {
  calls++;
  return v[i];
}
