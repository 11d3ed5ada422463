// `cc` includes this before the headers of Thrust, and thrust_end.h after them: its sequential system (CCCL, "Thrust,
// Device System") compiles with any C++ compiler, as long as it is not taken for nvcc. No include guard: see the end.
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#include <atomic>  // which Thrust's system for CUDA includes: programs rely on it
// It would mark ranges with more functions than nvtx3/nvToolsExt.h has here.
#define CCCL_DISABLE_NVTX
// The toolkit's headers of these types do not work with this runtime.
#define CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_BF16_SUPPORT
#define CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP6_SUPPORT
#define CCCL_DISABLE_NVFP4_SUPPORT

#pragma push_macro("__NVCC__")
#pragma push_macro("__CUDACC__")
#pragma push_macro("__host__")
#pragma push_macro("__device__")
#undef __NVCC__
#undef __CUDACC__
// Our attributes cannot stand before a deduction guide.
#undef __host__
#undef __device__
#define __host__
#define __device__
