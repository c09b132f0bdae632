// exit: 10
// Uses of stringstream: formatted input and output, state bits, getline, hex, custom extraction, seek.
#include <iostream>
#include <sstream>
#include <string>
int main() {
  std::istringstream in("12 3.5 word ff  rest of line\nnext,line,here\n");
  int i;
  double d;
  std::string w, l;
  unsigned h;
  in >> i >> d >> w >> std::hex >> h;
  std::getline(in >> std::ws, l);
  std::cout << i << ' ' << d << ' ' << w << ' ' << h << " <" << l << ">\n";
  while (std::getline(in, l, ',')) std::cout << '[' << l << ']';
  std::cout << in.eof() << in.fail() << '\n';
  std::ostringstream o;
  for (int k = 0; k < 5; k++) o << k * k << (k < 4 ? ";" : "");
  std::cout << o.str() << ' ' << o.str().size() << '\n';
  std::stringstream s;
  s << "7 x";
  int a, b = 5;
  s >> a >> b;
  std::cout << a << b << s.fail();
  s.clear();
  std::string r;
  s >> r;
  s.str("99");
  s.clear();
  s >> b;
  std::cout << r << b << '\n';
  std::istringstream e("1 2 3 4");
  int sum = 0, x;
  while (e >> x) sum += x;
  try {
    e.clear();
    e.exceptions(std::ios::failbit);
    e >> x;
  } catch (const std::ios_base::failure &) { std::cout << "failure " << sum << '\n'; }
  return sum;
}
