// exit: 21
// Rethrow, exceptions thrown in handlers, nested try in handlers, uncaught_exceptions.
#include <cstdio>
#include <exception>
#include <stdexcept>
struct G {
  ~G() { std::printf("[%d]", std::uncaught_exceptions()); }
};
static void f(int k) {
  try {
    G g;
    if (k == 0) throw 1;
    throw std::runtime_error("deep");
  } catch (int) {
    G g;
    throw;
  } catch (std::exception &e) {
    std::printf("handler:%s ", e.what());
    throw std::logic_error("from handler");
  }
}
static void lippincott() {
  try {
    throw;
  } catch (int i) { std::printf("L%d ", i); } catch (std::exception &e) {
    std::printf("L%s ", e.what());
  }
}
int main() {
  for (int k = 0; k < 2; k++) try {
      f(k);
    } catch (...) {
      lippincott();
      try {
        throw k + 10;
      } catch (int i) { std::printf("inner%d ", i); }
      lippincott();
    }
  try {
    try {
      throw 3;
    } catch (int &i) {
      i *= 7;
      throw;
    }
  } catch (int i) {
    std::printf("%d\n", i);
    return i;
  }
}
