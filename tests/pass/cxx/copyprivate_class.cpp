// OpenMP 5.2, section 5.7.2: copyprivate assigns objects with their assignment operator.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <string>
int main() {
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 10; round++) {
    std::string text = "mine";
#pragma omp single copyprivate(text)
    text = "a text of more than sixteen characters " + std::to_string(round);
    CHECK(text == "a text of more than sixteen characters " + std::to_string(round));
  }
  return DONE();
}
