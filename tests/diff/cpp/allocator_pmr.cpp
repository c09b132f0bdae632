// exit: 11
// flags: -std=c++20
// Custom allocators and pmr resources.
#include <cstdio>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>
static long live, total;
template <class T> struct Al {
  using value_type = T;
  Al() = default;
  template <class U> Al(const Al<U> &) {}
  T *allocate(std::size_t n) {
    live += (long)(n * sizeof(T));
    total++;
    return static_cast<T *>(::operator new(n * sizeof(T)));
  }
  void deallocate(T *p, std::size_t n) {
    live -= (long)(n * sizeof(T));
    ::operator delete(p);
  }
  bool operator==(const Al &) const { return true; }
};
int main() {
  {
    std::vector<int, Al<int>> v;
    for (int i = 0; i < 1000; i++) v.push_back(i);
    std::printf("%d %ld ", live >= 4000, total);
  }
  std::printf("%ld ", live);
  char buf[4096];
  std::pmr::monotonic_buffer_resource r(buf, sizeof buf, std::pmr::null_memory_resource());
  std::pmr::vector<std::pmr::string> s(&r);
  s.reserve(4);
  for (int i = 0; i < 4; i++) s.emplace_back(40, (char)('a' + i));
  bool in = reinterpret_cast<char *>(&s[0]) >= buf && s[3].data() < buf + sizeof buf;
  try {
    std::pmr::vector<int> big(&r);
    big.resize(10000);
  } catch (const std::bad_alloc &) { std::printf("full "); }
  std::printf("%d %s\n", in, s[2].c_str());
  return (int)total & 127;
}
