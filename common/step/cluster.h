// The attribute of a kernel whose blocks form clusters of a fixed size.
#pragma once

/// In front of a kernel's name: clusters of this many blocks. Nothing where a GPU has no clusters (before compute
/// capability 9.0), so that a file compiles for all architectures; such a GPU must not launch the kernel.
/// Source: NVIDIA, CUDA C++ Programming Guide, "Thread Block Clusters".
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CLUSTER_OF(blocks)
#else
#define CLUSTER_OF(blocks) __cluster_dims__(blocks)
#endif
