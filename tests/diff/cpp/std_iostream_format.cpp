// cout formatting: bases, widths, precision, fill, booleans, manipulators, user operators.
#include <iomanip>
#include <iostream>
struct P {
  int x, y;
  friend std::ostream &operator<<(std::ostream &o, const P &p) { return o << '(' << p.x << ',' << p.y << ')'; }
};
int main() {
  std::cout << 42 << ' ' << -7l << ' ' << 3.5 << ' ' << 'c' << ' ' << "str" << ' ' << true << ' ' << std::boolalpha
            << false << '\n';
  std::cout << std::hex << 255 << ' ' << std::showbase << std::uppercase << 48879 << ' ' << std::oct << 8 << std::dec
            << std::noshowbase << '\n';
  std::cout << std::setw(8) << 1 << '|' << std::left << std::setw(8) << 2 << '|' << std::right << std::setfill('*')
            << std::setw(6) << -3 << '|' << std::internal << std::setw(6) << -3 << '\n';
  std::cout << std::fixed << std::setprecision(3) << 3.14159 << ' ' << std::scientific << 12345.678 << ' '
            << std::defaultfloat << std::setprecision(10) << 1.0 / 3 << ' ' << 1e300 * 10 << '\n';
  std::cout << P{1, -2} << ' ' << std::showpos << 5 << ' ' << 1.5L << ' ' << 2.5f << std::endl;
  std::cout.width(5);
  std::cout << "ab" << std::cout.good() << std::flush << '\n';
  return std::cout.fail();
}
