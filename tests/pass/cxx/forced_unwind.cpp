// The Itanium C++ ABI's type of the forced unwinding of an ending thread: its handler runs, takes no other exception, and rethrows.
// levels: O0 O2
// flags: -pthread
// stdout: ok
#include "../../check.h"
#include <cxxabi.h>
#include <pthread.h>

static int forced, other, cleaned, thrown;

struct Cleans {
  ~Cleans() { cleaned++; }
};

static void *ends(void *) {
  Cleans cleans;
  try {
    pthread_exit(&forced);
  } catch (int) {
    other++;
  } catch (abi::__forced_unwind &) {
    forced++;
    throw;
  } catch (...) {
    other++;
  }
  return nullptr;
}

int main() {
  pthread_t thread;
  void *result;
  pthread_create(&thread, nullptr, ends, nullptr);
  pthread_join(thread, &result);
  CHECK(result == &forced && forced == 1 && other == 0 && cleaned == 1);
  try {
    throw 7;
  } catch (abi::__forced_unwind &) {
    other++;
  } catch (int n) {
    thrown = n;
  }
  CHECK(thrown == 7 && other == 0);
  return DONE();
}
