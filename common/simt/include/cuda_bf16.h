// Compilers find this file before CUDA's header of the same name, which does not work with this runtime.
#pragma once
#error "__nv_bfloat16 is for GPUs only: build this file with nvcc"
