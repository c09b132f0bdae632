// exit: 40
// flags: -pthread
// A thread pool of std::function tasks with futures and a lock-free stack.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
class Pool {
  std::vector<std::thread> t;
  std::deque<std::function<void()>> q;
  std::mutex m;
  std::condition_variable c;
  bool stop = false;

public:
  explicit Pool(int n) {
    for (int i = 0; i < n; i++)
      t.emplace_back([this] {
        for (;;) {
          std::function<void()> f;
          {
            std::unique_lock<std::mutex> l(m);
            c.wait(l, [this] { return stop || !q.empty(); });
            if (q.empty()) return;
            f = std::move(q.front());
            q.pop_front();
          }
          f();
        }
      });
  }
  ~Pool() {
    {
      std::lock_guard<std::mutex> l(m);
      stop = true;
    }
    c.notify_all();
    for (auto &x : t) x.join();
  }
  template <class F> auto add(F f) {
    auto p = std::make_shared<std::packaged_task<decltype(f())()>>(f);
    auto r = p->get_future();
    {
      std::lock_guard<std::mutex> l(m);
      q.push_back([p] { (*p)(); });
    }
    c.notify_one();
    return r;
  }
};
struct Node {
  int v;
  Node *next;
};
static std::atomic<Node *> head{nullptr};
static void push(int v) {
  Node *n = new Node{v, head.load()};
  while (!head.compare_exchange_weak(n->next, n)) {}
}
int main() {
  long s = 0;
  {
    Pool p(3);
    std::vector<std::future<long>> f;
    for (int i = 0; i < 40; i++)
      f.push_back(p.add([i]() -> long {
        push(i);
        if (i == 13) throw i;
        return i * i;
      }));
    for (auto &x : f) try {
        s += x.get();
      } catch (int e) { s += 10000 * e; }
  }
  int n = 0, sum = 0;
  while (Node *h = head) {
    head = h->next;
    n++;
    sum += h->v;
    delete h;
  }
  std::printf("%ld %d %d\n", s, n, sum);
  return n;
}
