// OpenMP 5.2, sections 5.4 and 12.5: firstprivate objects of a task, of any size, are copied at its creation and destroyed once.
// stdout: ok
#include "../../check.h"
#include <atomic>
#include <string>
#include <vector>
static std::atomic<int> alive;
struct Counted {
  std::string text;
  Counted(const char *t) : text(t) { alive++; }
  Counted(const Counted &o) : text(o.text) { alive++; }
  ~Counted() { alive--; }
};
struct Large {
  double values[2000];
};
int main() {
  Counted c("a text that is longer than a short string");
  Large large;
  for (int i = 0; i < 2000; i++) large.values[i] = i;
  std::atomic<int> good{0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 200; i++) {
#pragma omp task firstprivate(c, i) shared(good)
    {
      c.text += std::to_string(i);
      good += c.text == "a text that is longer than a short string" + std::to_string(i);
    }
#pragma omp task firstprivate(large) shared(good)
    {
      double sum = 0;
      for (double v : large.values) sum += v;
      good += sum == 1999000;
    }
    large.values[0] = 0;
  }
  CHECK(good == 400 && alive == 1);
  return DONE();
}
