// An archive that only the compiler's own folder holds: `-lstdc++fs` links it natively.
// flags: -std=c++17 -lstdc++fs
// stdout: ok
#include "../../check.h"
#include <filesystem>
#include <string>
int main() {
  namespace fs = std::filesystem;
#pragma omp parallel
  {
    fs::path path = fs::path("/one/two/../three") / std::to_string(omp_get_thread_num());
    CHECK(path.lexically_normal().parent_path() == "/one/three");
    CHECK(fs::exists("/proc/self"));
  }
  return DONE();
}
