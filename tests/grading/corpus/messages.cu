// Messages in small functions: alone in a source, they take from the library what larger ones bring along themselves.
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace corpus {

std::string message(int n) {
  std::ostringstream out;
  out << "n = " << n;
  if (n < 0) throw std::runtime_error(out.str());  // rarely taken: compilers do not inline what it calls
  return out.str();
}

int number(const std::string& text) {
  std::istringstream in(text);
  int n = 0;
  in >> n;
  return n;
}

std::string both(double x) {
  std::stringstream stream;
  stream << x;
  return stream.str();
}

std::string appended(const char* words) { return std::string(words) + "." + std::to_string(3); }

std::ostream& operator<<(std::ostream& to, const int (&pair)[2]) { return to << pair[0] << ", " << pair[1]; }

}  // namespace corpus
