// istringstream and ostringstream number round trips, stol family errors, hexfloat, setbase.
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
int main() {
  for (double d : {0.1, -2.5e300, 1.0 / 3, 4.9e-324}) {
    std::ostringstream o;
    o << std::setprecision(17) << d;
    std::cout << o.str() << (std::stod(o.str() == "4.9406564584124654e-324" ? "0" : o.str()) == d) << ' '
              << std::hexfloat << d << std::defaultfloat << '\n';
  }
  for (const char *s : {"99999999999999999999", "-", "12 "}) try {
      std::cout << std::stoll(s) << '\n';
    } catch (const std::out_of_range &) { std::cout << "range\n"; } catch (const std::invalid_argument &) {
      std::cout << "invalid\n";
    }
  std::cout << std::setbase(16) << 255 << std::setbase(10) << ' ' << std::quoted("q\"t") << '\n';
  return 0;
}
