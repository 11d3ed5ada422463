// Options as values.
#include <optional>
#include <variant>

#include "submission.h"

namespace odd_even {

struct One {
  int threads = 32;
};
struct Many {
  int threads = 256, blocks = 4;
};

std::optional<int> chosen(long long n) { return n > 10 ? std::optional<int>(4) : std::nullopt; }

void sort(lab::Span<unsigned> keys, cudaStream_t stream) {
  std::variant<One, Many> shape = One{};
  if (keys.n > 100) shape = Many{};
  const int threads = std::visit([](const auto& s) { return s.threads; }, shape);
  CUDA_CHECK(cudaMemsetAsync(keys.data, chosen(threads).value(), 4, stream));
}

}  // namespace odd_even
