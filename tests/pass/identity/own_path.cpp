// The path of the program's own file, by each function that reads links: a file next to it is found, and other links are
// read unchanged.
// levels: O0 O2
// stdout: 1 1 1 1
// stdout: cut 3, other 1
#include "../../check.h"
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

static std::string read_at(int folder, const std::string &path) {
  char text[PATH_MAX];
  ssize_t n = readlinkat(folder, path.c_str(), text, sizeof text);
  return n < 0 ? "" : std::string(text, n);
}

int main() {
  char text[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", text, sizeof text);
  CHECK(n > 0);
  std::string self(text, n), by_number = "/proc/" + std::to_string(getpid()) + "/exe";
  char *real = realpath("/proc/self/exe", nullptr), *canonical = canonicalize_file_name(by_number.c_str());
  CHECK(real && canonical);
  std::string folder = self.substr(0, self.rfind('/'));
  printf("%d %d %d %d\n", access(self.c_str(), R_OK) == 0 && access(folder.c_str(), X_OK) == 0,
              read_at(AT_FDCWD, by_number) == self, std::string(real) == canonical,
              std::string(real).substr(std::string(real).rfind('/')) == self.substr(self.rfind('/')));
  char here[PATH_MAX], cwd[PATH_MAX];
  ssize_t m = readlink("/proc/self/cwd", here, sizeof here);
  CHECK(m > 0 && getcwd(cwd, sizeof cwd));
  printf("cut %zd, other %d\n", readlink("/proc/self/exe", text, 3), std::string(here, m) == cwd);
  free(real);
  free(canonical);
}
