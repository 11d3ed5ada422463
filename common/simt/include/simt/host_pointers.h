// Kernel arguments that point into host memory, which a device cannot follow: they are replaced by addresses that fault
// when they are used, so that the message can name the argument.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace simt {

/// The address for argument `position` (from 1) of a launch. Pointers that a device may follow are returned unchanged.
const volatile void* guard_pointer(const volatile void* pointer, int position);

/// The same for the object that a reference refers to.
const volatile void* guard_reference(const volatile void* object, int position);

/// Remembers that argument `position` is the address of the device pointer that this memory of the host holds, if so.
void look_at_pointer_in(const volatile void* pointer, int position);

/// The same for everything in an object that looks like a pointer to the host's heap or stack. `value_bits` has as many
/// bytes as the object: a word that is not all ones there contains padding, so it is no pointer. Null: not known.
void guard_words(void* object, const unsigned char* value_bits, std::size_t bytes, int position);

/// Memory that the host has written to, outside its variables: an integer is hardly ever such an address.
bool is_host_heap_or_stack(void* address);

/// The position of the argument that guard_pointer() gave this address to, or 0; and what it is.
enum class Guarded { pointer, pointer_to_device_pointer, reference };
int guarded_argument(const void* address, Guarded& what);

/// An argument for a parameter that is a reference: a launch does not copy what it refers to. The rewriter marks it.
template <class T>
struct Reference {
  T* object;
};
template <class T>
Reference<std::remove_reference_t<T>> referred(T&& object) {
  return {std::addressof(object)};
}

/// What a kernel is called with.
template <class T>
T& passed(T& copy) {
  return copy;
}
template <class T>
T& passed(Reference<T>& reference) {
  return *reference.object;
}

/// Maps the address range of guarded arguments; a later call does nothing.
void prepare_guarded_arguments();

/// Is T an aggregate with a pointer named `data`, such as lab::Span?
template <class T, class = void>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<T, std::void_t<decltype(std::declval<T&>().data)>> =
    std::is_trivially_copyable_v<T> && std::is_pointer_v<std::remove_reference_t<decltype(std::declval<T&>().data)>>;

template <class T>
void guard_argument(T& argument, int position) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    const T given = argument;
    argument = static_cast<T>(const_cast<void*>(guard_pointer(argument, position)));
    if constexpr (std::is_pointer_v<std::remove_pointer_t<T>>) {
      if (argument != given) look_at_pointer_in(given, position);
    }
  } else if constexpr (std::is_class_v<T> && std::is_trivially_copy_constructible_v<T>) {
    // (Not is_trivially_copyable, which g++ 12 denies some lambdas.)
    if constexpr (is_view<T>) guard_argument(argument.data, position);
#if __has_builtin(__builtin_clear_padding)
    if constexpr (std::is_trivially_copyable_v<T>) {
      alignas(T) unsigned char value_bits[sizeof(T)];
      std::memset(value_bits, 0xff, sizeof value_bits);
      __builtin_clear_padding(reinterpret_cast<T*>(value_bits));
      guard_words(&argument, value_bits, sizeof argument, position);
      return;
    }
#endif
    guard_words(&argument, nullptr, sizeof argument, position);
  }
}

template <class T>
void guard_argument(Reference<T>& reference, int position) {
  if constexpr (!std::is_function_v<T>) {
    const volatile void* const guarded = guard_reference(reference.object, position);
    reference.object = static_cast<T*>(const_cast<void*>(guarded));
  }
}

}  // namespace simt
