#include "simt/runtime/symbols.h"

#include "../memory/access.h"
#include "../memory/globals.h"
#include "call.h"
#include "copy.h"

namespace simt {
namespace {

/// Device memory is accepted on the other side even if the kind is the default one, which names the host. As on a GPU.
cudaMemcpyKind kind_for(const void* other, cudaMemcpyKind kind) {
  const Access access = access_of(other, 1);
  return access.device && !access.host ? cudaMemcpyDeviceToDevice : kind;
}

}  // namespace

cudaError_t copy_to_symbol(void* symbol, std::size_t symbol_bytes, const void* from, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool is_async) {
  const HostCall self{"cudaMemcpyToSymbol", __builtin_return_address(0)};
  return call(self.name, [&] {
    if (!is_writable_global(symbol, symbol_bytes)) return cudaErrorInvalidSymbol;
    if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
      report_copy_past_symbol(self, symbol_bytes, offset, bytes);
      return cudaErrorInvalidValue;
    }
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    return copy(self, static_cast<char*>(symbol) + offset, from, bytes, kind_for(from, kind), stream, is_async);
  });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t symbol_bytes, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool is_async) {
  const HostCall self{"cudaMemcpyFromSymbol", __builtin_return_address(0)};
  return call(self.name, [&] {
    if (!is_global(symbol, symbol_bytes)) return cudaErrorInvalidSymbol;
    if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
      report_copy_past_symbol(self, symbol_bytes, offset, bytes);
      return cudaErrorInvalidValue;
    }
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    return copy(self, to, static_cast<const char*>(symbol) + offset, bytes, kind_for(to, kind), stream, is_async);
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
