// unique_ptr, shared_ptr, weak_ptr: counts, custom deleters, cycles broken, aliasing, enable_shared_from_this.
#include <cstdio>
#include <memory>
#include <vector>
struct N : std::enable_shared_from_this<N> {
  int v;
  std::shared_ptr<N> next;
  std::weak_ptr<N> prev;
  N(int v) : v(v) {}
  ~N() { std::printf("~%d ", v); }
  std::shared_ptr<N> me() { return shared_from_this(); }
};
int main() {
  {
    auto a = std::make_shared<N>(1), b = std::make_shared<N>(2);
    a->next = b;
    b->prev = a;
    auto c = b->me();
    std::printf("%ld %ld %d ", a.use_count(), b.use_count(), b->prev.lock()->v);
    std::shared_ptr<int> al(b, &b->v);
    a.reset();
    b.reset();
    c.reset();
    std::printf("[%d %ld] ", *al, al.use_count());
  }
  {
    std::unique_ptr<int, void (*)(int *)> u(new int(9), [](int *p) {
      std::printf("del%d ", *p);
      delete p;
    });
    auto arr = std::make_unique<int[]>(5);
    arr[4] = 3;
    auto m = std::move(u);
    std::printf("%d %d ", u == nullptr, *m + arr[4]);
  }
  std::weak_ptr<N> w;
  {
    auto s = std::make_shared<N>(5);
    w = s;
  }
  std::printf("%d ", w.expired());
  std::vector<std::unique_ptr<N>> v;
  for (int i = 10; i < 13; i++) v.push_back(std::make_unique<N>(i));
  v.erase(v.begin() + 1);
  std::puts("|");
  return 0;
}
