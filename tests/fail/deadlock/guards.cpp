// critical (15.2), lock (18.9): a method enters a critical section while it holds the lock of its object.
// env: OMP_NUM_THREADS=2
// options: --watchdog=.5
// native: it hangs
// exit: 125
// stderr-has: waits in critical `log`, held by thread
// stderr-has: waits for a lock, held by thread
// stderr-has: #0 deposit at
// stderr-has: guards.cpp:24
// stderr-has: guards.cpp:31
#include <atomic>
#include <omp.h>

struct Account {
  omp_lock_t lock;
  std::atomic<int> inside{0};
  Account() { omp_init_lock(&lock); }
  void meet() {
    inside++;
    while (inside < 2) {}
  }
  void deposit() {
    omp_set_lock(&lock), meet();
#pragma omp critical(log)
    omp_unset_lock(&lock);
  }
  void report() {
#pragma omp critical(log)
    {
      meet();
      omp_set_lock(&lock), omp_unset_lock(&lock);
    }
  }
};
int main() {
  Account *account = new Account;
#pragma omp parallel sections
  {
#pragma omp section
    account->deposit();
#pragma omp section
    account->report();
  }
}
