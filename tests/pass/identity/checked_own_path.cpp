// The functions that read links in their checked forms (_FORTIFY_SOURCE): they see the program's own file, too, and end
// the program if the buffer is too small. clang calls them only where its inliner knew the size early, so they are
// named here.
// levels: O2
// stdout: 1 1 1
// stdout: overflow 1
#include "../../check.h"
#include <climits>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
char *__realpath_chk(const char *, char *, size_t);
}

int main() {
  static char first[PATH_MAX], second[PATH_MAX], third[PATH_MAX];
  ssize_t n = __readlink_chk("/proc/self/exe", first, PATH_MAX, sizeof first);
  ssize_t m = __readlinkat_chk(AT_FDCWD, "/proc/self/exe", second, PATH_MAX, sizeof second);
  CHECK(n > 0 && m > 0 && __realpath_chk("/proc/self/exe", third, sizeof third));
  std::string self(first, n);
  printf("%d %d %d\n", self.find("checked_own_path") != std::string::npos, std::string(second, m) == self,
         self.substr(self.rfind('/')) == std::string(third).substr(std::string(third).rfind('/')));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    freopen("/dev/null", "w", stderr);
    __readlink_chk("/proc/self/exe", first, PATH_MAX, 3);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  printf("overflow %d\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
