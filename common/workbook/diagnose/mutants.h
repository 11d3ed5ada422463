// All small changes to a step, in one program; each run selects one or two of them, in the search for a mistake. The
// environment variable STEP_MUTANT holds their numbers, such as "17" or "17,23"; without it, the program does what its
// author wrote. STEP_MUTANTS_SEEN names a file to which the first number of each place reached is appended, as an int.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace mutants {

/// What the environment asks for.
struct Asked {
  int first = -1, second = -1;  // changes to make
  int seen = -1;                // file for the numbers of the places that are reached
  Asked() {
    if (const char* text = std::getenv("STEP_MUTANT")) std::sscanf(text, "%d,%d", &first, &second);
    if (const char* path = std::getenv("STEP_MUTANTS_SEEN")) seen = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
};
inline const Asked asked;
inline constexpr int max_places = 1 << 14;
inline bool is_seen[max_places];

/// Writes the number of a place when it is reached for the first time. Two threads may both do that.
__attribute__((no_sanitize("thread"), noinline)) inline void see(int place) {
  if (place >= max_places || is_seen[place]) return;
  is_seen[place] = true;
  if (write(asked.seen, &place, sizeof place) < 0) is_seen[place] = false;
}

/// Which of `count` changes from the number `first` on is made; -1: none. Not instrumented, because the check build
/// would report that a kernel reads memory of the host.
__attribute__((no_sanitize("thread"), noinline)) inline int variant(int first, int count) {
  if (asked.seen >= 0) see(first);
  if (asked.first >= first && asked.first < first + count) return asked.first - first;
  if (asked.second >= first && asked.second < first + count) return asked.second - first;
  return -1;
}

inline bool is(int number) { return variant(number, 1) == 0; }

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<std::decay_t<T>> && !std::is_same_v<std::decay_t<T>, bool>;
template <class T>
inline constexpr bool is_integer = is_number<T> && std::is_integral_v<std::decay_t<T>>;

// --- values ---

/// A condition: turned around, never true, always true.
inline bool condition(int number, bool given) {
  switch (variant(number, 3)) {
    case 0:
      return !given;
    case 1:
      return false;
    case 2:
      return true;
    default:
      return given;
  }
}

/// An integer: one more, one less, twice, half, 0.
template <class T>
  requires is_integer<T>
inline std::decay_t<T> value(int number, T&& given) {
  using Integer = std::decay_t<T>;
  switch (variant(number, 5)) {
    case 0:
      return Integer(given + 1);
    case 1:
      return Integer(given - 1);
    case 2:
      return Integer(given * 2);
    case 3:
      return Integer(given / 2);
    case 4:
      return Integer(0);
    default:
      return given;
  }
}
/// Anything else stays as it is.
template <class T>
  requires(!is_integer<T>)
inline T&& value(int, T&& given) {
  return std::forward<T>(given);
}

/// An integer, or its sum with another one, or its difference from it.
template <class T, class... Terms>
  requires is_integer<T>
inline std::decay_t<T> with_term(int number, T&& given, Terms... terms) {
  const int chosen_one = variant(number, 2 * sizeof...(terms));
  std::decay_t<T> result = given;
  int index = 0;
  const auto take = [&](auto term) {
    if constexpr (is_integer<decltype(term)>) {
      if (index == chosen_one) result = std::decay_t<T>(result + term);
      if (index + 1 == chosen_one) result = std::decay_t<T>(result - term);
    }
    index += 2;
  };
  if (chosen_one >= 0) (take(terms), ...);
  return result;
}
/// Anything else stays as it is.
template <class T, class... Terms>
  requires(!is_integer<T>)
inline T&& with_term(int, T&& given, Terms...) {
  return std::forward<T>(given);
}

/// An integer, or its product with another one.
template <class T, class... Factors>
inline T with_factor(int number, T given, Factors... factors) {
  if constexpr (is_integer<T>) {
    const int chosen_one = variant(number, sizeof...(factors));
    int index = 0;
    const auto take = [&](auto factor) {
      if constexpr (is_integer<decltype(factor)>) {
        if (index == chosen_one) given = T(given * factor);
      }
      ++index;
    };
    if (chosen_one >= 0) (take(factors), ...);
  }
  return given;
}

/// The value of a variable, or that of another one, as far as it can be converted.
template <class T, class... Others>
inline std::decay_t<T> value_of(int number, T&& own, Others&&... others) {
  const int chosen_one = variant(number, sizeof...(others));
  std::decay_t<T> result = own;
  if (chosen_one >= 0) {
    int index = 0;
    const auto take = [&](auto& other) {
      if constexpr (std::is_convertible_v<decltype(other), std::decay_t<T>>) {
        if (index == chosen_one) result = static_cast<std::decay_t<T>>(other);
      }
      ++index;
    };
    (take(others), ...);
  }
  return result;
}

/// A variable, or another one of the same type.
template <class T, class... Others>
inline T& one_of(int number, T& own, Others&... others) {
  const int chosen_one = variant(number, sizeof...(others));
  T* result = &own;
  int index = 0;
  const auto take = [&](auto& other) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(other)>, T>) {
      if (index == chosen_one) result = &other;
    }
    ++index;
  };
  if (chosen_one >= 0) (take(others), ...);
  return *result;
}

// --- operators: a < b becomes a < Compared{number, 0} < b, which has the same precedence ---

struct Compared {
  int number;
  int way;  // 0: <, 1: <=, 2: >, 3: >=, 4: ==, 5: !=
};
template <class T>
struct ComparedWith {
  T left;
  Compared how;
};

template <class A, class B>
inline bool compare(int way, const A& a, const B& b) {
  switch (way) {
    case 0:
      return a < b;
    case 1:
      return a <= b;
    case 2:
      return a > b;
    case 3:
      return a >= b;
    case 4:
      return a == b;
    default:
      return a != b;
  }
}

/// The other comparison with or without equality; a bound that is one less or one more; the opposite direction; equal or
/// not; the bound twice or half as large; never, always.
template <class A, class B>
inline bool compare(const ComparedWith<A>& left, const B& b) {
  const auto& a = left.left;
  const int way = left.how.way;
  const int made = variant(left.how.number, 9);
  if (made < 0) return compare(way, a, b);
  if constexpr (is_number<A> && is_number<B>) {
    if (made == 1) return compare(way, a, b - 1);
    if (made == 2) return compare(way, a, b + 1);
    if (made == 5) return compare(way, a, b * 2);
    if (made == 6) return compare(way, a, b / 2);
  }
  switch (made) {
    case 0:
      return compare(way ^ 1, a, b);
    case 3:
      return compare(way < 4 ? (way + 2) % 4 : way ^ 1, a, b);
    case 4:
      return compare(way < 4 ? (way + 2) % 4 ^ 1 : way ^ 1, a, b);
    case 7:
      return false;
    case 8:
      return true;
    default:
      return compare(way, a, b);
  }
}

template <class A>
inline ComparedWith<A> operator<(const A& left, Compared how) {
  return {left, how};
}
template <class A>
inline ComparedWith<A> operator>(const A& left, Compared how) {
  return {left, how};
}
template <class A>
inline ComparedWith<A> operator<=(const A& left, Compared how) {
  return {left, how};
}
template <class A>
inline ComparedWith<A> operator>=(const A& left, Compared how) {
  return {left, how};
}
template <class A>
inline ComparedWith<A> operator==(const A& left, Compared how) {
  return {left, how};
}
template <class A>
inline ComparedWith<A> operator!=(const A& left, Compared how) {
  return {left, how};
}
template <class A, class B>
inline bool operator<(const ComparedWith<A>& left, const B& b) {
  return compare(left, b);
}
template <class A, class B>
inline bool operator>(const ComparedWith<A>& left, const B& b) {
  return compare(left, b);
}
template <class A, class B>
inline bool operator<=(const ComparedWith<A>& left, const B& b) {
  return compare(left, b);
}
template <class A, class B>
inline bool operator>=(const ComparedWith<A>& left, const B& b) {
  return compare(left, b);
}
template <class A, class B>
inline bool operator==(const ComparedWith<A>& left, const B& b) {
  return compare(left, b);
}
template <class A, class B>
inline bool operator!=(const ComparedWith<A>& left, const B& b) {
  return compare(left, b);
}

struct Computed {
  int number;
};
template <class T>
struct ComputedWith {
  T left;
  int number;
};
/// Changes `a op b`: into `a other b`, into a, into b, into `b op a`, into `a another b`. Only if both are integers.
template <class A, class B, class Op, class Other, class Another>
inline auto compute(int number, const A& a, const B& b, Op op, Other other, Another another) {
  using Result = decltype(op(a, b));
  switch (variant(number, 5)) {
    case 0:
      return Result(other(a, b));
    case 1:
      return Result(a);
    case 2:
      return Result(b);
    case 3:
      return Result(op(b, a));
    case 4:
      return Result(another(a, b));
    default:
      return Result(op(a, b));
  }
}

#define STEP_MUTANTS_OPERATOR(OP, OTHER, ANOTHER)                                                                     \
  template <class A>                                                                                                  \
  inline ComputedWith<std::decay_t<const A>> operator OP(const A & left, Computed how) {                              \
    return {left, how.number};                                                                                        \
  }                                                                                                                   \
  template <class A, class B>                                                                                         \
  inline auto operator OP(const ComputedWith<A>& left, const B& b) {                                                  \
    if constexpr (is_integer<A> && is_integer<B>) {                                                                   \
      return compute(                                                                                                 \
          left.number, left.left, b, [](auto x, auto y) { return x OP y; }, [](auto x, auto y) { return x OTHER y; }, \
          [](auto x, auto y) { return x ANOTHER y; });                                                                \
    } else {                                                                                                          \
      return left.left OP b;                                                                                          \
    }                                                                                                                 \
  }
STEP_MUTANTS_OPERATOR(+, -, ^)
STEP_MUTANTS_OPERATOR(-, +, ^)
STEP_MUTANTS_OPERATOR(*, /, +)
STEP_MUTANTS_OPERATOR(/, *, %)
STEP_MUTANTS_OPERATOR(%, /, &)
STEP_MUTANTS_OPERATOR(&, |, %)
STEP_MUTANTS_OPERATOR(|, &, ^)
STEP_MUTANTS_OPERATOR(^, |, +)
#undef STEP_MUTANTS_OPERATOR

}  // namespace mutants
