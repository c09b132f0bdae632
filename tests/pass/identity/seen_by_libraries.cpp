// The C++ library's functions read the link to the executable as the program's own calls do.
// flags: -std=c++20
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
namespace fs = std::filesystem;

int main() {
  const char *link = "/proc/self/exe";
  char to[4096] = {};
  CHECK(readlink(link, to, sizeof to - 1) > 0);
  std::string own = to;
  CHECK(fs::read_symlink(link) == own);
  CHECK(fs::canonical(link) == own);
  CHECK(fs::weakly_canonical(link) == own);
  std::error_code error;
  CHECK(fs::read_symlink("/proc/" + std::to_string(getpid()) + "/exe", error) == own && !error);
  CHECK(fs::is_symlink(link));
  CHECK(fs::exists(fs::read_symlink(link)));
  // Other links are unchanged.
  fs::path elsewhere = fs::temp_directory_path() / ("link-" + std::to_string(getpid()));
  fs::create_symlink("/dev/null", elsewhere);
  CHECK(fs::read_symlink(elsewhere) == "/dev/null");
  CHECK(fs::canonical(elsewhere) == "/dev/null");
  fs::remove(elsewhere);
  CHECK(fs::read_symlink("/proc/self/nothing", error).empty());
  CHECK(!!error);
  return DONE();
}
