#pragma once
#error \
    "4-bit floating-point types are for GPUs only: build with nvcc, or use cuda_fp16.h instead behind #ifdef __SIMT__"
