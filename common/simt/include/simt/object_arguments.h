// Kernel arguments of classes with a destructor. As nvcc's code does, the host copies such an object for the launch and
// destroys the copy when the launch has returned; each thread gets the copy's bits, and constructs and destroys nothing.
// But where only a call says which kernel is meant, each thread copies and destroys the object: in a macro's body, and
// where template arguments are deduced and an argument has another type than its parameter.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "simt/host_pointers.h"

namespace simt {

/// Whether a parameter of this type is destroyed. Then the caller passes the address of an object and destroys that
/// object itself (Itanium C++ ABI, 3.1.2.3, "Non-Trivial Parameters").
template <class T>
inline constexpr bool is_destroyed = !std::is_reference_v<T> && !std::is_trivially_destructible_v<T>;

/// The bits of an object.
template <class T>
struct Bits {
  alignas(T) unsigned char bytes[sizeof(T)];

  explicit Bits(const void* object) { std::memcpy(bytes, object, sizeof bytes); }
  operator T&() { return *reinterpret_cast<T*>(bytes); }
};

/// How a launch keeps what the host has for a parameter: an object, or a reference that the rewriter has marked.
template <class Parameter>
using Kept = std::conditional_t<is_destroyed<Parameter>, Bits<std::decay_t<Parameter>>, std::decay_t<Parameter>>;

template <class T>
Kept<T> kept(const T& given) {
  if constexpr (is_destroyed<T>) {
    return Bits<T>(std::addressof(given));
  } else {
    return given;
  }
}

/// Which of the bytes are padding is not known: __builtin_clear_padding takes only trivially copyable types.
template <class T>
void guard_argument(Bits<T>& bits, int position) {
  guard_words(bits.bytes, nullptr, sizeof bits.bytes, position);
}

/// What a thread calls the kernel with.
template <class T>
Bits<T> own(Bits<T>& kept) {
  return kept;
}
template <class T>
decltype(auto) own(T& kept) {
  return passed(kept);
}

/// A kernel that is called with the addresses of objects, which this call does not copy or destroy.
template <class... Parameters>
struct CalledWithBits {
  void (*kernel)(Parameters...);

  template <class... Arguments>
  void operator()(Arguments&... arguments) const {
    using Called = void (*)(std::conditional_t<is_destroyed<Parameters>, Parameters&, Parameters>...);
    const auto called = reinterpret_cast<Called>(reinterpret_cast<void (*)()>(kernel));
    called(own(arguments)...);
  }
};

// --- which function a kernel's name means ---

/// What the rewriter makes of a kernel's name: a function that calls the kernel with any arguments, and one that gets one
/// of the classes below, and calls it with the name. It cannot do that if the name means more than one function.
template <class Call, class Select>
struct Selectable {
  Call call;
  Select select;
};
template <class Call, class Select>
Selectable<Call, Select> selectable(const Call& call, const Select& select) {
  return {call, select};
}

struct OnlyKernel {
  template <class... Parameters>
  auto operator()(void (*kernel)(Parameters...)) const {
    return kernel;
  }
};
/// Among overloads, and where template arguments are to be deduced.
template <class... Parameters>
struct KernelWith {
  auto operator()(void (*kernel)(Parameters...)) const { return kernel; }
};

struct UnknownKernel {};

/// The kernel that `select` means, if it can be known and one of these arguments is an object that is destroyed.
template <class... Arguments, class Select>
auto selected_kernel([[maybe_unused]] const Select& select) {
  if constexpr (!(is_destroyed<Arguments> || ...)) {
    return UnknownKernel();
  } else if constexpr (std::is_invocable_v<const Select&, OnlyKernel>) {
    return select(OnlyKernel());
  } else if constexpr (std::is_invocable_v<const Select&, KernelWith<Arguments...>>) {
    return select(KernelWith<Arguments...>());
  } else {
    return UnknownKernel();
  }
}

/// Whether the kernel has a parameter for each argument, whose type fits. Others have defaults or are wrong, which the
/// compiler explains best where it sees a call.
template <class... Arguments, class... Parameters>
constexpr bool takes(void (*)(Parameters...)) {
  if constexpr (sizeof...(Arguments) == sizeof...(Parameters)) {
    return ((std::is_reference_v<Parameters> || std::is_convertible_v<Arguments, Parameters>) && ...);
  } else {
    return false;
  }
}
template <class... Arguments>
constexpr bool takes(UnknownKernel) {
  return false;
}

/// The type of the host's copy of an argument.
template <class Parameter, class Argument>
using HostCopy = std::decay_t<std::conditional_t<std::is_reference_v<Parameter>, Argument, Parameter>>;

}  // namespace simt
