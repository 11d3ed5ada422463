// Ordinary C++ in a step: what its host functions may take from the standard library. Compiled, never run.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <any>
#include <array>
#include <bitset>
#include <cassert>
#include <charconv>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <forward_list>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <valarray>
#include <variant>
#include <vector>

namespace corpus {

// --- containers ---

template <class Container>
std::size_t fill(Container& container, unsigned n) {
  for (unsigned i = 0; i < n; ++i) container.insert(container.end(), i * 7 % 5);
  return container.size();
}

std::size_t sequences(unsigned n) {
  std::vector<unsigned> a;
  std::deque<unsigned> b;
  std::list<unsigned> c;
  std::forward_list<unsigned> d(n);
  std::vector<bool> e(n, true);
  std::array<unsigned, 16> f{};
  c.sort();
  c.unique();
  c.reverse();
  d.sort();
  a.reserve(n);
  a.resize(n);
  a.shrink_to_fit();
  e.flip();
  std::bitset<64> bits(n);
  return fill(a, n) + fill(b, n) + fill(c, n) + f.at(n % 16) + a.at(n) + b.at(n) + e.at(n) + bits.count() +
         bits.to_string().size() + std::size_t(std::distance(d.begin(), d.end()));
}

std::size_t associative(unsigned n) {
  std::set<unsigned> a;
  std::multiset<unsigned> b;
  std::map<std::string, std::vector<int>> c;
  std::multimap<int, double> d;
  std::unordered_set<unsigned> e;
  std::unordered_map<std::string, int> f;
  std::unordered_multimap<unsigned, unsigned> g;
  for (unsigned i = 0; i < n; ++i) {
    c[std::to_string(i)].push_back(int(i));
    d.emplace(int(i), i);
    ++f[std::to_string(i)];
    g.emplace(i, i);
  }
  a.erase(3);
  f.erase("3");
  c.erase(c.begin());
  return fill(a, n) + fill(b, n) + fill(e, n) + c.at("1").size() + d.count(1) + std::size_t(f.at("1")) + g.size();
}

unsigned adapters(unsigned n) {
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> a;
  std::queue<unsigned> b;
  std::stack<unsigned> c;
  for (unsigned i = 0; i < n; ++i) a.push(i), b.push(i), c.push(i);
  return a.top() + b.front() + c.top();
}

// --- algorithms ---

unsigned sorted(std::vector<unsigned>& keys) {
  std::sort(keys.begin(), keys.end());
  std::stable_sort(keys.begin(), keys.end(), std::greater<>());
  std::partial_sort(keys.begin(), keys.begin() + 3, keys.end());
  std::nth_element(keys.begin(), keys.begin() + 3, keys.end());
  std::make_heap(keys.begin(), keys.end());
  std::sort_heap(keys.begin(), keys.end());
  std::inplace_merge(keys.begin(), keys.begin() + 2, keys.end());
  std::stable_partition(keys.begin(), keys.end(), [](unsigned key) { return key % 2 == 0; });
  std::ranges::sort(keys);
  std::rotate(keys.begin(), keys.begin() + 1, keys.end());
  std::reverse(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<unsigned> copy(keys.size());
  std::copy(keys.begin(), keys.end(), copy.begin());
  std::merge(keys.begin(), keys.end(), copy.begin(), copy.end(), std::back_inserter(copy));
  std::exclusive_scan(keys.begin(), keys.end(), keys.begin(), 0u);
  std::iota(keys.begin(), keys.end(), 0u);
  return std::accumulate(keys.begin(), keys.end(), 0u) + std::reduce(keys.begin(), keys.end()) +
         unsigned(std::lower_bound(keys.begin(), keys.end(), 5u) - keys.begin()) +
         *std::max_element(keys.begin(), keys.end()) + unsigned(std::count(copy.begin(), copy.end(), 3u));
}

void c_library(unsigned* keys, unsigned n) {
  std::qsort(keys, n, sizeof *keys, [](const void* a, const void* b) {
    return int(*static_cast<const unsigned*>(a)) - int(*static_cast<const unsigned*>(b));
  });
  std::memmove(keys, keys + 1, n);
  std::memcpy(keys, keys + n, n);
  std::memset(keys, 0, n);
  void* const memory = std::malloc(n);
  void* const more = std::realloc(std::calloc(n, 4), 8 * n);
  void* const aligned = std::aligned_alloc(64, n * 64);
  if (std::memcmp(memory, more, n) == 0 || std::memchr(memory, 3, n) != nullptr) std::free(memory);
  std::free(more);
  std::free(aligned);
  std::srand(n);
  if (std::rand() % 2 == 0 || std::strtol("12", nullptr, 10) + std::atoi("3") == int(n)) std::abort();
}

std::size_t text(char* to, const char* from, std::size_t n) {
  std::strncpy(to, from, n);
  std::strcpy(to, from);
  std::strcat(to, from);
  if (std::strcmp(to, from) == 0 || std::strncmp(to, from, n) < 0) return std::strlen(to);
  const char* const found = std::strchr(from, to[0]);
  return std::strstr(from, to) != found ? std::size_t(std::strtod(from, nullptr)) : std::strtoull(from, nullptr, 10);
}

double mathematics(double x, float y, int n) {
  int exponent = 0;
  return std::sqrt(x) + std::pow(x, y) + std::log2(x) + std::log(x) + std::log10(x) + std::exp(x) + std::exp2(x) +
         std::sin(x) + std::cos(x) + std::tan(x) + std::atan2(x, 2) + std::floor(x) + std::ceil(x) + std::round(x) +
         std::trunc(x) + std::fmod(x, 3) + std::hypot(x, 2) + std::cbrt(x) + std::ldexp(x, n) +
         std::frexp(x, &exponent) + std::sqrt(y) + std::pow(y, 2.f) + std::log2(y) + std::log(y) + std::exp(y) +
         std::sin(y) + std::cos(y) + std::floor(y) + std::ceil(y) + std::round(y) + std::fmod(y, 3.f) +
         double(std::lround(x)) + double(std::llround(y)) + std::abs(std::complex<double>(x, y)) +
         double(std::gcd(n, 12)) + std::abs(n) + std::tgamma(x) + std::erf(x) + std::nextafter(x, 1) +
         std::nextafter(y, 1.f) + std::remainder(x, 2) + std::acos(x) + std::asin(x) + std::atan(x) + std::sinh(x) +
         std::cosh(x) + std::tanh(x) + std::log1p(x) + std::expm1(x) + std::rint(x) + std::nearbyint(x) +
         std::fma(x, x, x) + std::scalbn(x, n) + std::ilogb(x) + std::logb(x) + std::lgamma(x);
}

double random_numbers(unsigned seed) {
  std::mt19937 a(seed);
  std::mt19937_64 b(seed);
  std::minstd_rand c(seed);
  std::vector<int> order(10);
  std::shuffle(order.begin(), order.end(), a);
  return std::uniform_real_distribution<double>()(a) + std::uniform_int_distribution<int>(0, 9)(b) +
         std::normal_distribution<double>()(c) + std::poisson_distribution<int>(3)(a) +
         std::bernoulli_distribution()(b) + std::exponential_distribution<double>()(a) +
         std::discrete_distribution<int>({1, 2, 3})(a);
}

// --- printing ---

void prints(const std::vector<unsigned>& keys, double x, const char* words, std::ostream& to) {
  std::printf("%u keys, %f, %s\n", unsigned(keys.size()), x, words);
  std::fprintf(stderr, "%s %g\n", words, x);
  std::fprintf(stdout, "%d\n", 3);
  std::puts(words);
  std::putchar('\n');
  std::putc('c', stdout);
  std::fputs(words, stderr);
  std::fputc('c', stderr);
  std::fwrite(words, 1, 3, stdout);
  std::perror(words);
  std::fflush(stdout);
  std::fflush(nullptr);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%g", x);
  std::sprintf(buffer, "%.17g %p", x, static_cast<const void*>(words));
  int number = 0;
  if (std::sscanf(buffer, "%d", &number) == 1) std::printf("%d", number);
  std::printf("plain\n");
  std::cout << "n = " << keys.size() << ' ' << x << '\n' << std::hex << 255 << std::dec << std::boolalpha << true;
  std::cout << std::setw(8) << std::setprecision(3) << std::fixed << 1.5f << std::setfill('0') << words << std::endl;
  std::cout << std::string("text") << std::string_view("view") << 3u << 3l << 3ul << 3ll << 3ull << short(3) << 'c';
  std::cout << static_cast<const void*>(words) << std::flush << std::scientific << std::left << std::uppercase << x;
  std::cerr << "error: " << x << std::endl;
  std::clog << 1 << '\n';
  std::wcout << L"wide\n";
  std::ios::sync_with_stdio(false);
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  std::setbuf(stdout, nullptr);
  std::cout.precision(4);
  std::cout.width(3);
  std::cout.put('c').write(words, 3).flush();
  to << x << "words" << 3 << '\n' << std::endl << true << (unsigned char)3 << std::oct << std::showbase << std::right;
  std::copy(keys.begin(), keys.end(), std::ostream_iterator<unsigned>(std::cout, " "));
}

std::string composed(int n, double x) {
  std::ostringstream out;
  out << n << ' ' << x << std::setw(3) << std::hex << n;
  std::istringstream in("12 3.5 word");
  std::stringstream both;
  std::string word, line;
  int first = 0;
  unsigned second = 0;
  double third = 0;
  long long fourth = 0;
  in >> first >> third >> word >> second >> fourth;
  std::getline(in, line);
  std::getline(in, line, ',');
  both << word;
  both.str("again");
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + 32, n);
  const auto [end_of_double, error_of_double] = std::to_chars(digits, digits + 32, x);
  std::from_chars(digits, end, first);
  std::string text = std::to_string(n) + "." + std::to_string(x) + word.substr(1) + std::to_string(7ull);
  text.append(3, 'x').insert(2, "y").replace(0, 1, "zz").erase(1, 1).push_back('!');
  text.resize(40, '.');
  text.reserve(100);
  text += both.str() + out.str() + std::string(digits, end) + std::string(1, char(n));
  const bool is_there = text.find("x") != std::string::npos && text.rfind('x') != 3 && text.find_first_of("ab") != 2 &&
                        text.find_last_not_of(" ") != 0 && text.compare("abc") < 0 && text.starts_with("z");
  text.swap(word);
  text.assign("abc");
  text.clear();
  return text + std::to_string(std::stoi("12") + std::stol("1") + int(std::stoul("1"))) +
         std::to_string(std::stod("1")) + (is_there ? word : line) + text.at(0) + word.c_str() +
         std::to_string(std::stoull("1") + std::stoll("2")) + std::to_string(std::stof("1")) +
         std::to_string(int(error) + int(error_of_double)) + *end_of_double;
}

// --- the end of the program, and clocks ---

#define CHECKED(call)                                              \
  if (const int code = (call); code != 0) {                        \
    std::fprintf(stderr, "%s:%d: %d\n", __FILE__, __LINE__, code); \
    std::exit(EXIT_FAILURE);                                       \
  }

void ends(int n, int how) {
  CHECKED(n);
  std::atexit([] { std::puts("the end"); });
  if (how == 1) std::_Exit(how);
  if (how == 2) _exit(how);
}

double times() {
  timespec now;
  timeval today;
  rusage used;
  const std::time_t seconds = std::time(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const auto end = std::chrono::high_resolution_clock::now() - std::chrono::system_clock::now();
  return double(clock_gettime(CLOCK_MONOTONIC, &now) + gettimeofday(&today, nullptr) + getrusage(RUSAGE_SELF, &used)) +
         std::difftime(seconds, 0) + double(std::clock()) + double(std::timespec_get(&now, TIME_UTC)) +
         std::chrono::duration<double>(end).count() + double(start.time_since_epoch().count());
}

unsigned unpredictable() { return std::random_device()() + std::mt19937(std::random_device{}())(); }

// --- exceptions ---

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Every kind has a constructor for each kind of text.
template <class Exception>
void throws_both(const std::string& why) {
  if (why.empty()) throw Exception("words");
  throw Exception(why);
}
template void throws_both<std::runtime_error>(const std::string&);
template void throws_both<std::logic_error>(const std::string&);
template void throws_both<std::invalid_argument>(const std::string&);
template void throws_both<std::out_of_range>(const std::string&);
template void throws_both<std::length_error>(const std::string&);
template void throws_both<std::domain_error>(const std::string&);
template void throws_both<std::range_error>(const std::string&);
template void throws_both<std::overflow_error>(const std::string&);
template void throws_both<std::underflow_error>(const std::string&);

struct OwnException : std::exception {
  const char* what() const noexcept override { return "own"; }
};

int throws(int kind, const std::string& why) {
  try {
    switch (kind) {
      case 0:
        throw Failure(why);
      case 1:
        throw std::invalid_argument("no keys: " + why);
      case 2:
        throw std::out_of_range(why);
      case 3:
        throw std::logic_error("logic");
      case 4:
        throw std::length_error("length");
      case 5:
        throw std::bad_alloc();
      case 6:
        throw OwnException();
      case 7:
        throw 42;
      case 8:
        throw std::domain_error("domain");
      case 9:
        throw std::overflow_error("overflow");
      case 10:
        throw std::range_error("range");
      case 11:
        throw std::system_error(std::make_error_code(std::errc::invalid_argument), why);
      case 12:
        throw std::underflow_error(why);
      default:
        return kind;
    }
  } catch (const Failure& failure) {
    return int(std::strlen(failure.what()));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    std::throw_with_nested(std::runtime_error(exception.what()));
  } catch (...) {
    const std::exception_ptr pointer = std::current_exception();
    if (kind == 3) std::rethrow_exception(pointer);
    if (std::uncaught_exceptions() > 0) std::terminate();
    return -1;
  }
}

// --- objects ---

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square : Shape {
  explicit Square(int side) : side(side) {}
  int area() const override { return side * side; }
  int side;
};
struct Named : virtual Shape {
  std::string name = "named";
  int area() const override { return int(name.size()); }
};

int objects(int n) {
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Square>(n));
  const std::shared_ptr<Shape> shared = std::make_shared<Named>();
  const std::weak_ptr<Shape> weak = shared;
  const auto array = std::make_unique<int[]>(n);
  const std::function<int(int)> add = [&](int i) { return i + shared->area() + n; };
  std::variant<int, std::string, double> variant = "text";
  variant = 3;
  const std::optional<std::string> maybe = n > 3 ? std::optional<std::string>("yes") : std::nullopt;
  const std::any any = std::string("any");
  const std::tuple<int, std::string> tuple{n, "tuple"};
  static const std::vector<int> table = [] {
    std::vector<int> made(256);
    std::iota(made.begin(), made.end(), 0);
    return made;
  }();
  static std::map<int, std::string> cache;
  static int calls = 0;
  cache[n] = std::get<1>(tuple);
  int* const raw = new int[n];
  delete[] raw;
  auto* const one = new (std::nothrow) Square(3);
  delete one;
  struct alignas(128) Line {
    char bytes[128];
  };
  auto* const line = new Line;
  delete line;
  const auto* const square = dynamic_cast<const Square*>(shared.get());
  const auto bound = std::bind(std::plus<int>(), n, std::placeholders::_1);
  assert(n >= 0 && "n must not be negative");
  return add(bound(3)) + shapes[0]->area() + array[0] + std::visit([](auto&& v) { return int(sizeof v); }, variant) +
         int(maybe.value().size()) + int(std::any_cast<std::string>(any).size()) + table[n] + ++calls +
         (weak.lock() ? 1 : 0) + (square ? 1 : 0) + int(std::strlen(typeid(*shared).name())) + std::get<int>(variant) +
         int(std::hash<std::string>()("key")) + int(std::valarray<int>(3, 5).sum());
}

struct Interface {
  virtual int pure() const = 0;
  int calls_pure() const { return pure(); }
};
int calls(const Interface& interface) { return interface.calls_pure(); }

thread_local int counter = 0;
int counts() { return ++counter; }

__int128 divides(__int128 a, __int128 b) { return a / b + a % b; }
unsigned __int128 divides(unsigned __int128 a, unsigned __int128 b) { return a / b + a % b; }
double converts(__int128 a) { return double(a) + float(a); }
int builtins(unsigned long long a) { return __builtin_popcountll(a) + __builtin_clzll(a) + __builtin_ctzll(a); }

}  // namespace corpus
