// flags: -std=c++20 -pthread
// thread_local objects with constructors and destructors, at every place where C++ has them, used by several threads in turn.
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static thread_local std::vector<int> list{1, 2};
thread_local std::string text = "main";
inline thread_local std::vector<std::string> words{"a", "bb"};

template <class T> struct Counter {
  static thread_local std::map<int, T> counts;
};
template <class T> thread_local std::map<int, T> Counter<T>::counts{{1, T(5)}};

struct Tree {
  std::unique_ptr<Tree> left, right;
  int value = 3;
  ~Tree() { value = 0; }
  int sum() const { return value + (left ? left->sum() : 0) + (right ? right->sum() : 0); }
};
static thread_local Tree root;

struct Loud {
  const char *name;
  explicit Loud(const char *n) : name(n) { std::printf("make %s\n", name); }
  ~Loud() { std::printf("end %s\n", name); }
};

__attribute__((noinline)) static std::map<std::string, int> &table() {
  static thread_local std::map<std::string, int> t{{"x", 1}};
  return t;
}

__attribute__((noinline)) static int loud(int n) {
  static thread_local Loud first("first");
  static thread_local std::array<Loud, 2> more{Loud("second"), Loud("third")};
  return n + (first.name[0] == 'f') + (more[1].name[0] == 't');
}

__attribute__((noinline)) static void work(int n) {
  for (int i = 0; i < n; i++) {
    list.push_back(i);
    text += char('a' + i % 26);
    words.emplace_back(text.substr(text.size() > 3 ? text.size() - 3 : 0));
    Counter<double>::counts[i % 3] += 0.5;
    Counter<long>::counts[i % 2]++;
    table()[words.back()]++;
    if (i % 4 == 0) {
      auto tree = std::make_unique<Tree>();
      tree->value = i;
      std::swap(tree, i % 8 ? root.left : root.right);
    }
  }
}

static void show(const char *who) {
  std::printf("%s: %zu %s %zu %g %ld %zu %d %d\n", who, list.size(), text.c_str(), words.size(), Counter<double>::counts[1],
              Counter<long>::counts[1], table().size(), root.sum(), loud(1));
}

int main() {
  work(5);
  show("main");
  for (int t = 0; t < 3; t++) {
    std::thread([t] {
      work(10 * t);
      show("other");
    }).join();
  }
  work(30);
  show("main");
}
