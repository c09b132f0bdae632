// OpenMP 5.2, section 5.4.5: lastprivate objects are assigned from the last iteration's copy.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <string>
#include <vector>
int main() {
  std::string text = "none";
  std::vector<int> v;
#pragma omp parallel for num_threads(4) lastprivate(text, v) schedule(static, 2)
  for (int i = 0; i < 51; i++) {
    text = "number " + std::to_string(i);
    v.assign(i, i);
  }
  CHECK(text == "number 50" && v.size() == 50 && v[49] == 50);
  return DONE();
}
