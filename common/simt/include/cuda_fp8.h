#pragma once
#error "numbers of 8 bits (fp8) are for GPUs only: build with nvcc, or use cuda_fp16.h instead behind #ifdef __SIMT__"
