// exit: 11
// Replaced global new and delete seen by the standard library; std::get_new_handler; nothrow.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>
static long n, d;
void *operator new(std::size_t s) {
  n++;
  if (void *p = std::malloc(s)) return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept {
  if (p) d++;
  std::free(p);
}
void operator delete(void *p, std::size_t) noexcept { operator delete(p); }
static void handler() { throw 17; }
int main() {
  long a, b;
  {
    long n0 = n, d0 = d;
    {
      std::vector<std::string> v;
      v.reserve(10);
      for (int i = 0; i < 10; i++) v.emplace_back(50, 'x');
      a = n - n0;
    }
    b = d - d0;
  }
  std::set_new_handler(handler);
  int r = std::get_new_handler() == handler;
  std::printf("%ld %ld %d\n", a, b, r);
  return (int)a;
}
