// Functions that the host gives.
double host_price(int item);
void host_report(const char *what, double value);

void total(int items) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < items; i++)
    sum += host_price(i);
  host_report("total", sum);
}
