// exit: 4
// Exceptions thrown in a comparison function propagate through libc's qsort and bsearch frames.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
struct G {
  const char *n;
  ~G() { std::printf("~%s ", n); }
};
static int n;
static int cmp(const void *a, const void *b) {
  G g{"cmp"};
  if (++n == 4) throw std::runtime_error("in cmp");
  return *(const int *)a - *(const int *)b;
}
static int cmp2(const void *a, const void *) { throw *(const int *)a; }
int main() {
  int v[] = {5, 3, 8, 1, 9, 2};
  try {
    G g{"main"};
    std::qsort(v, 6, sizeof *v, cmp);
  } catch (const std::exception &e) { std::printf("%s %d\n", e.what(), n); }
  int k = 77;
  try {
    std::bsearch(&k, v, 6, sizeof *v, cmp2);
  } catch (int e) { std::printf("%d\n", e); }
  return n;
}
