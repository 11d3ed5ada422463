#include "simt/runtime/symbols.h"

#include "../memory/access.h"
#include "../memory/globals.h"
#include "call.h"

namespace simt {
namespace {

/// Device memory is accepted on the other side even if the kind is the default one, which names the host. As on a GPU.
cudaMemcpyKind kind_for(const void* other, cudaMemcpyKind kind) {
  const Access access = access_of(other, 1);
  return access.device && !access.host ? cudaMemcpyDeviceToDevice : kind;
}

/// cudaSuccess if there is such a part.
cudaError_t check_part(const HostCall& self, const SymbolPart& part) {
  if (part.offset <= part.symbol_bytes && part.bytes <= part.symbol_bytes - part.offset) return cudaSuccess;
  report_copy_past_symbol(self, part.symbol_bytes, part.offset, part.bytes);
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t copy_to_symbol(const SymbolPart& to, const void* from, cudaMemcpyKind kind,
                           std::optional<cudaStream_t> stream) {
  const HostCall self{"cudaMemcpyToSymbol", __builtin_return_address(0)};
  return call(self.name, [&] {
    if (!is_writable_global(to.symbol, to.symbol_bytes)) return cudaErrorInvalidSymbol;
    if (const cudaError_t error = check_part(self, to); error != cudaSuccess) return error;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    return copy(self, static_cast<char*>(to.symbol) + to.offset, from, to.bytes, kind_for(from, kind), stream);
  });
}

cudaError_t copy_from_symbol(void* to, const SymbolPart& from, cudaMemcpyKind kind,
                             std::optional<cudaStream_t> stream) {
  const HostCall self{"cudaMemcpyFromSymbol", __builtin_return_address(0)};
  return call(self.name, [&] {
    if (!is_global(from.symbol, from.symbol_bytes)) return cudaErrorInvalidSymbol;
    if (const cudaError_t error = check_part(self, from); error != cudaSuccess) return error;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    return copy(self, to, static_cast<const char*>(from.symbol) + from.offset, from.bytes, kind_for(to, kind), stream);
  });
}

cudaError_t symbol_address(void** address, const void* symbol, std::size_t bytes) {
  return call("cudaGetSymbolAddress", [&] {
    if (address == nullptr) return cudaErrorInvalidValue;
    if (!is_global(symbol, 1)) return cudaErrorInvalidSymbol;
    *address = const_cast<void*>(symbol);
    allow_pointers_to(symbol, bytes);
    return cudaSuccess;
  });
}

}  // namespace simt
