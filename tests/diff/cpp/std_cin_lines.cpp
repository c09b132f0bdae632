// exit: 5
// flags: -std=c++17
// stdin: a first line\n5\nred blue red green red\nq\n
// Reading of cin: words, numbers and lines from standard input.
#include <iostream>
#include <map>
#include <string>
int main() {
  std::string first;
  std::getline(std::cin, first);
  int n;
  std::cin >> n;
  std::map<std::string, int> m;
  std::string w;
  for (int i = 0; i < n && std::cin >> w; i++) m[w]++;
  std::cout << first << ' ' << n;
  for (auto &[k, v] : m) std::cout << ' ' << k << v;
  char c;
  std::cin >> c;
  std::cout << ' ' << c << ' ' << (std::cin.get() == '\n') << ' ' << (std::cin.peek() == EOF) << '\n';
  return n;
}
