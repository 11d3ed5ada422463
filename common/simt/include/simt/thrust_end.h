// The counterpart of thrust_begin.h.
#if __has_include(<thrust/system/detail/sequential/stable_radix_sort.inl>)
#include <thrust/functional.h>
#include <thrust/system/detail/sequential/sort.h>

// The radix sort of this Thrust puts negative ints behind the others (CCCL 3.0.1, RadixEncoder<int>): ints go to its
// merge sort instead.
THRUST_NAMESPACE_BEGIN
namespace system::detail::sequential::sort_detail {

template <>
struct use_primitive_sort<int, thrust::less<int>> : thrust::detail::false_type {};
template <>
struct use_primitive_sort<int, thrust::greater<int>> : thrust::detail::false_type {};

}  // namespace system::detail::sequential::sort_detail
THRUST_NAMESPACE_END
#endif

#pragma pop_macro("__NVCC__")
#pragma pop_macro("__CUDACC__")
#pragma pop_macro("__host__")
#pragma pop_macro("__device__")

#include "simt/runtime/allocations.h"

namespace simt {

// Thrust's algorithms run on the host here, and may be given any device memory.
inline const bool is_shared_with_thrust = (share_device_memory(), true);

}  // namespace simt
