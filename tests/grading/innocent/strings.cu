// Messages are composed of strings.
#include <string>
#include <string_view>

#include "submission.h"

namespace odd_even {

std::string described(std::string_view name, long long n) {
  std::string text(name);
  text += " of " + std::to_string(n) + " keys";
  if (text.find("keys") == std::string::npos || text.size() > 80) text.resize(80);
  return text.substr(0, 60).append(".").insert(0, "> ");
}

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  if (stream == nullptr) throw lab::Unsupported(described("a sort", keys.n));
}

}  // namespace odd_even
