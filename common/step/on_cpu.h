// Where kernels run: on a GPU, or with CUDA on the CPU.
#pragma once

namespace lab {

/// On the CPU, a second version of a kernel takes longer to compile than it saves, so steps avoid one where they can.
#ifdef __SIMT__
inline constexpr bool on_cpu = true;
#else
inline constexpr bool on_cpu = false;
#endif

}  // namespace lab
