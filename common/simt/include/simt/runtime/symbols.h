// Copies to and from global variables.
#pragma once

#include <optional>
#include <type_traits>

#include "simt/runtime/types.h"

namespace simt {

/// The part of a global variable that is copied.
struct SymbolPart {
  void* symbol;
  std::size_t symbol_bytes;
  std::size_t offset;
  std::size_t bytes;
};

/// Without a stream, they return when the copy is done.
cudaError_t copy_to_symbol(const SymbolPart& to, const void* from, cudaMemcpyKind kind,
                           std::optional<cudaStream_t> stream = {});
cudaError_t copy_from_symbol(void* to, const SymbolPart& from, cudaMemcpyKind kind,
                             std::optional<cudaStream_t> stream = {});
cudaError_t symbol_address(void** address, const void* symbol, std::size_t bytes);

template <class T>
void* symbol_pointer(const T& symbol) {
  return const_cast<void*>(reinterpret_cast<const volatile void*>(&reinterpret_cast<const volatile char&>(symbol)));
}

/// A part of a variable or, if the symbol is a pointer without a type, of the variable that it points to.
template <class T>
SymbolPart symbol_part(const T& symbol, std::size_t offset, std::size_t bytes) {
  if constexpr (std::is_same_v<T, const void*> || std::is_same_v<T, void*>) {
    return {const_cast<void*>(symbol), offset + bytes, offset, bytes};
  } else {
    return {symbol_pointer(symbol), sizeof(T), offset, bytes};
  }
}

}  // namespace simt

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return simt::copy_to_symbol(simt::symbol_part(symbol, offset, bytes), from, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr) {
  return simt::copy_to_symbol(simt::symbol_part(symbol, offset, bytes), from, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return simt::copy_from_symbol(to, simt::symbol_part(symbol, offset, bytes), kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr) {
  return simt::copy_from_symbol(to, simt::symbol_part(symbol, offset, bytes), kind, stream);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return simt::symbol_address(address, simt::symbol_pointer(symbol), sizeof(T));
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}
