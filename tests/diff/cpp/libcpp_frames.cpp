// Exceptions of libc++ pass through frames of C, of the library's algorithms and of static objects
// under construction; cleanups run on the way.
// flags: -stdlib=libc++
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Stop {
  int after;
};
struct Trace {
  const char *name;
  ~Trace() { std::printf("~%s\n", name); }
};

static int calls;
extern "C" int compare(const void *a, const void *b) {
  Trace t{"compare"};
  if (++calls == 3)
    throw Stop{calls};
  return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static int tries;
struct Late {
  std::string text;
  Late() : text("made") {
    if (++tries < 3)
      throw std::runtime_error("try " + std::to_string(tries));
  }
};
[[gnu::noinline]] static const Late &late() {
  static Late object;
  return object;
}

struct Part {
  int n;
  explicit Part(int n) : n(n) {
    if (n == 3)
      throw std::domain_error("third part");
  }
  ~Part() { std::printf("~Part %d\n", n); }
};
struct Whole {
  Part a, b, c, d;
  Whole() try : a(1), b(2), c(3), d(4) {
  } catch (const std::domain_error &e) {
    std::printf("function try: %s\n", e.what());
  }
};

[[gnu::noinline]] static int depth(int n) {
  std::unique_ptr<int> keep(new int(n));
  if (n == 200)
    throw Stop{n};
  return depth(n + 1) + *keep;
}

int main() {
  int numbers[] = {5, 3, 9, 1, 7};
  try {
    std::qsort(numbers, 5, sizeof(int), compare);
  } catch (const Stop &s) {
    std::printf("stopped after %d\n", s.after);
  }
  int key = 3;
  calls = 2;
  try {
    std::bsearch(&key, numbers, 5, sizeof(int), compare);
  } catch (const Stop &s) {
    std::printf("search stopped after %d\n", s.after);
  }
  for (int i = 0; i < 4; i++)
    try {
      std::printf("%s\n", late().text.c_str());
    } catch (const std::runtime_error &e) {
      std::printf("%s\n", e.what());
    }
  try {
    Whole w;
  } catch (const std::logic_error &e) {
    std::printf("again: %s\n", e.what());
  }
  std::vector<int> v(1000);
  for (int i = 0; i < 1000; i++)
    v[i] = i * 7919 % 1000;
  int seen = 0;
  try {
    std::sort(v.begin(), v.end(), [&](int a, int b) {
      if (++seen == 500)
        throw std::string("in sort");
      return a < b;
    });
  } catch (const std::string &s) {
    std::printf("%s\n", s.c_str());
  }
  std::map<std::string, std::function<int(int)>> table;
  table["deep"] = depth;
  table["range"] = [](int n) { return std::vector<int>(3).at(n); };
  for (auto &[name, function] : table)
    try {
      std::printf("%d\n", function(5));
    } catch (const Stop &s) {
      std::printf("%s: %d\n", name.c_str(), s.after);
    } catch (const std::out_of_range &) {
      std::printf("%s: out of range\n", name.c_str());
    }
  long sum = 0;
  for (int i = 0; i < 20000; i++)
    try {
      if (i % 4 == 0)
        throw i;
      if (i % 4 == 1)
        throw Stop{i};
      sum += 1;
    } catch (int n) {
      sum += n;
    } catch (const Stop &s) {
      sum -= s.after;
    }
  std::printf("%ld\n", sum);
}
