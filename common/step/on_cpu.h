// Where kernels run: on a GPU, or with CUDA on the CPU.
#pragma once

namespace lab {

/// On the CPU, another version of a kernel takes longer to compile than it saves, so a step has one where it can.
#ifdef __SIMT__
inline constexpr bool on_cpu = true;
#else
inline constexpr bool on_cpu = false;
#endif

}  // namespace lab
