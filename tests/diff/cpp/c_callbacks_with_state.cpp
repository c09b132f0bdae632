// flags: -pthread
// C++ objects driven from C callbacks: qsort with a capture-less lambda, atexit, pthread_create on a member function.
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <vector>
struct Worker {
  int id;
  long result = 0;
  static void *entry(void *p) { return static_cast<Worker *>(p)->run(); }
  void *run() {
    std::vector<std::string> v;
    for (int i = 0; i < 50; i++) v.push_back(std::to_string(i * id));
    for (auto &s : v) result += (long)s.size();
    return this;
  }
};
struct Bye {
  ~Bye() { std::puts("static gone"); }
};
static Bye bye;
int main() {
  std::string names[] = {"mike", "al", "zoe", "bob"};
  std::string *ptr[4];
  for (int i = 0; i < 4; i++) ptr[i] = &names[i];
  std::qsort(ptr, 4, sizeof *ptr, [](const void *a, const void *b) {
    return (*static_cast<std::string *const *>(a))->compare(**static_cast<std::string *const *>(b));
  });
  for (auto *p : ptr) std::printf("%s ", p->c_str());
  Worker w[3] = {{1}, {20}, {300}};
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], nullptr, Worker::entry, &w[i]);
  for (int i = 0; i < 3; i++) {
    void *r;
    pthread_join(t[i], &r);
    std::printf("%ld %d ", w[i].result, r == &w[i]);
  }
  std::puts("");
  std::atexit([] { std::puts("atexit lambda"); });
  return 0;
}
