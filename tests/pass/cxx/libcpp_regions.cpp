// Exceptions of libc++ within parallel regions, loops, tasks and critical sections, on several threads at once.
// flags: -stdlib=libc++
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct Number { int n; };
__attribute__((noinline)) static void risky(int i) {
  if (i % 4 == 0) throw std::runtime_error(std::to_string(i));
  if (i % 4 == 1) throw Number{i};
  if (i % 4 == 2) (void)std::vector<int>(2).at(i);
}
extern "C" int stop(const void *, const void *b) { throw Number{*static_cast<const int *>(b)}; }
int main() {
  long strings = 0, numbers = 0, ranges = 0, none = 0, callbacks = 0;
#pragma omp parallel for num_threads(4) reduction(+ : strings, numbers, ranges, none) schedule(dynamic)
  for (int i = 0; i < 400; i++) {
    try { risky(i); none++; }
    catch (const Number &n) { numbers += n.n; }
    catch (const std::out_of_range &) { ranges++; }
    catch (const std::exception &e) { strings += std::stoi(e.what()); }
  }
  CHECK(strings == 19800 && numbers == 19900 && ranges == 100 && none == 100);
#pragma omp parallel num_threads(4) reduction(+ : callbacks)
  {
    int v[] = {7, 7, 7};
    try { std::qsort(v, 3, sizeof v[0], stop); } catch (const Number &n) { callbacks += n.n; }
  }
  CHECK(callbacks % 7 == 0 && callbacks > 0);
  std::map<std::string, int> caught;
  std::exception_ptr kept[20];
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp task shared(caught, kept) firstprivate(i)
    try { risky(i); } catch (...) {
      kept[i] = std::current_exception();
#pragma omp critical
      {
        try { throw; }
        catch (const Number &) { caught["Number"]++; }
        catch (const std::logic_error &) { caught["logic_error"]++; }
        catch (const std::runtime_error &) { caught["runtime_error"]++; }
      }
    }
  }
  CHECK(caught["Number"] == 5 && caught["logic_error"] == 5 && caught["runtime_error"] == 5);
  int again = 0;
  for (int i = 0; i < 20; i++)
    if (kept[i]) try { std::rethrow_exception(kept[i]); } catch (const Number &n) { again += n.n; } catch (const std::exception &) { again++; }
  CHECK(again == 1 + 5 + 9 + 13 + 17 + 10);
  return DONE();
}
