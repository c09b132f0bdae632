// list, forward_list, deque, queue, stack, priority_queue, array, bitset.
#include <array>
#include <bitset>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <list>
#include <queue>
#include <stack>
int main() {
  std::list<int> l = {5, 2, 9, 1}, k = {3, 4};
  l.splice(std::next(l.begin()), k);
  l.sort();
  l.remove_if([](int x) { return x == 4; });
  l.reverse();
  for (int x : l) std::printf("%d ", x);
  std::forward_list<int> f = {1, 2, 3};
  f.insert_after(f.begin(), 9);
  f.reverse();
  for (int x : f) std::printf("%d ", x);
  std::deque<int> d;
  for (int i = 0; i < 200; i++) i & 1 ? d.push_back(i) : d.push_front(i);
  d.pop_back();
  std::priority_queue<int, std::vector<int>, std::greater<>> q;
  for (int x : {5, 1, 8, 3}) q.push(x);
  std::stack<int> s;
  while (!q.empty()) {
    s.push(q.top());
    q.pop();
  }
  std::array<int, 4> a{};
  for (auto &x : a) {
    x = s.top();
    s.pop();
  }
  std::bitset<70> b("1011");
  b <<= 64;
  b.set(3);
  b ^= std::bitset<70>(0xff);
  std::printf("%d %d %d %d%d%d%d %zu %d %s\n", d[50], d[150], d.front(), a[0], a[1], a[2], a[3], b.count(),
              (int)b.test(67), b.to_string().substr(0, 6).c_str());
  return 0;
}
