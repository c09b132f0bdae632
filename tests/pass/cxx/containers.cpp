// Per-thread maps, strings and streams, merged in critical: allocation and library code on all threads.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <map>
#include <sstream>
#include <string>
int main() {
  std::map<std::string, int> all;
#pragma omp parallel num_threads(4)
  {
    std::map<std::string, int> mine;
#pragma omp for schedule(dynamic, 5)
    for (int i = 0; i < 400; i++) {
      std::ostringstream out;
      out << "key " << i % 10 << ' ' << 0.5;
      mine[out.str()]++;
    }
#pragma omp critical
    for (auto &[key, n] : mine) all[key] += n;
  }
  CHECK(all.size() == 10);
  for (auto &[key, n] : all) CHECK(n == 40 && key.size() == 9);
  return DONE();
}
