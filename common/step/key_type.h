// Key types by name: for command lines, messages and for choosing the template that serves a type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "step/error.h"
#include "step/keys.h"

namespace lab {

constexpr const char* name_of(KeyType type) {
  constexpr const char* names[] = {"u8", "u16", "u32", "u64", "i32", "i64", "f32", "f64", "pairs"};
  return names[static_cast<int>(type)];
}

constexpr const char* name_of(Order order) { return order == Order::ascending ? "ascending" : "descending"; }

/// Carries a type into the function that `with_key` calls.
template <class K>
struct KeyTag {
  using Key = K;
};

/// Calls `f(KeyTag<Key>{})` with the C++ type of a KeyType's keys; pairs have uint32_t keys.
template <class F>
constexpr decltype(auto) with_key(KeyType type, F&& f) {
  switch (type) {
    case KeyType::u8:
      return f(KeyTag<std::uint8_t>{});
    case KeyType::u16:
      return f(KeyTag<std::uint16_t>{});
    case KeyType::u64:
      return f(KeyTag<std::uint64_t>{});
    case KeyType::i32:
      return f(KeyTag<std::int32_t>{});
    case KeyType::i64:
      return f(KeyTag<std::int64_t>{});
    case KeyType::f32:
      return f(KeyTag<float>{});
    case KeyType::f64:
      return f(KeyTag<double>{});
    case KeyType::u32:
    case KeyType::pairs:
      break;
  }
  return f(KeyTag<std::uint32_t>{});
}

/// Bytes of one key, without its value.
inline std::int64_t key_bytes(KeyType type) {
  return with_key(type, [](auto tag) { return std::int64_t(sizeof(typename decltype(tag)::Key)); });
}

/// Throws lab::Error, which lists the known names, for any other name.
inline KeyType key_type_named(std::string_view name) {
  std::string known;
  for (KeyType type : all_key_types) {
    if (name == name_of(type)) return type;
    known += std::string(known.empty() ? "" : ", ") + name_of(type);
  }
  throw Error("unknown key type '" + std::string(name) + "'; choose one of: " + known);
}

inline Order order_named(std::string_view name) {
  if (name == "ascending") return Order::ascending;
  if (name == "descending") return Order::descending;
  throw Error("unknown order '" + std::string(name) + "'; choose one of: ascending, descending");
}

}  // namespace lab
