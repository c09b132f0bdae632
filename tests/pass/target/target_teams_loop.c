// OpenMP 5.2, section 17: a combined target construct with teams and a loop, on the host.
// options: --device=host
// flags: -fopenmp-targets=x86_64-pc-linux-gnu
int main(void) {
  int v[100], sum = 0;
  for (int i = 0; i < 100; i++) v[i] = i;
#pragma omp target teams distribute parallel for map(to : v) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += v[i];
  return sum != 4950;
}
