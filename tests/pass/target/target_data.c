// OpenMP 5.2, section 13.5: target data, target update, target enter and exit data without a device do nothing.
// options: --device=host
// flags: -fopenmp-targets=x86_64-pc-linux-gnu
int main(void) {
  int x = 3, y = 0;
#pragma omp target enter data map(to : x)
#pragma omp target update from(x)
#pragma omp target data map(tofrom : y) use_device_addr(y)
  y = x;
#pragma omp target exit data map(from : x)
  return x != 3 || y != 3;
}
