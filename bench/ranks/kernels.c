// Kernels whose communication among ranks is simulated; see volume.rs.

// A step of a five-point stencil on a grid of n by n, and the way back.
void stencil(long n, const double *restrict from, double *restrict to) {
#pragma omp target teams distribute parallel for
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      to[i * n + j] = .25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] +
                             from[i * n + j + 1]);
}
// Forces of all bodies on each, and their movement.
void forces(long n, const float *restrict x, float *restrict v) {
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; i++) {
    float sum[3] = {0, 0, 0};
    for (long j = 0; j < n; j++) {
      float d[3], r = .01f;
      for (int k = 0; k < 3; k++)
        d[k] = x[4 * j + k] - x[4 * i + k], r += d[k] * d[k];
      for (int k = 0; k < 3; k++)
        sum[k] += x[4 * j + 3] * d[k] / (r * r);
    }
    for (int k = 0; k < 3; k++)
      v[4 * i + k] += sum[k];
  }
}
void moves(long n, float *restrict x, const float *restrict v) {
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      x[4 * i + k] += .01f * v[4 * i + k];
}
// The product of a sparse matrix with a vector, and the update of the vectors of a CG iteration.
void product(long n, const int *restrict rows, const int *restrict columns,
             const double *restrict values, const double *restrict p, double *restrict q) {
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; i++) {
    double sum = 0;
    for (int k = rows[i]; k < rows[i + 1]; k++)
      sum += values[k] * p[columns[k]];
    q[i] = sum;
  }
}
void update(long n, double alpha, double beta, const double *restrict q, double *restrict r,
            double *restrict z, double *restrict p) {
#pragma omp target teams distribute parallel for
  for (long i = 0; i < n; i++) {
    z[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    p[i] = r[i] + beta * p[i];
  }
}
