// Twelve threads created by the program next to a team, with exceptions in each.
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

int main() {
  std::vector<std::thread> threads;
  std::vector<int> results(12);
  for (int i = 0; i < 12; i++)
    threads.emplace_back([&results, i] {
      try {
        throw std::runtime_error("x");
      } catch (const std::exception &) {
        results[i] = i;
      }
    });
  int n = 0, sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : n)
  n++;
  for (auto &thread : threads)
    thread.join();
  for (int result : results)
    sum += result;
  std::printf("%d %d\n", sum, n);
}
