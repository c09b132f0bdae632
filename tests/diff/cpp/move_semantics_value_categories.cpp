// exit: 7
// Value categories: forwarding, reference collapsing, move-only types, elision, ref-qualified members, swap.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>
static const char *k(int &) { return "l"; }
static const char *k(const int &) { return "cl"; }
static const char *k(int &&) { return "r"; }
template <class T> static const char *fwd(T &&t) { return k(std::forward<T>(t)); }
struct Q {
  std::string s = "data";
  const char *who() & { return "lv"; }
  const char *who() const & { return "clv"; }
  const char *who() && { return "rv"; }
  std::string take() && { return std::move(s); }
};
struct MO {
  std::unique_ptr<int> p;
  explicit MO(int v) : p(new int(v)) {}
};
static MO chain(MO m) {
  ++*m.p;
  return m;
}
int main() {
  int i = 1;
  const int c = 2;
  Q q;
  const Q cq;
  std::printf("%s %s %s %s | %s %s %s ", fwd(i), fwd(c), fwd(3), fwd(std::move(i)), q.who(), cq.who(), Q().who());
  std::string t = std::move(q).take();
  MO m = chain(chain(MO(5)));
  std::vector<MO> v;
  for (int j = 0; j < 20; j++) v.emplace_back(j);
  std::swap(v[0], v[19]);
  int &&ext = i + 5;
  ext++;
  std::printf("%s %d %d %d %d\n", t.c_str(), *m.p, *v[0].p, *v.back().p, ext);
  return *m.p;
}
