#pragma once
#error "numbers of 4 bits (fp4) are for GPUs only: build with nvcc, or use cuda_fp16.h instead behind #ifdef __SIMT__"
