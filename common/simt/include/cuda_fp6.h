#pragma once
#error "numbers of 6 bits (fp6) are for GPUs only: build with nvcc, or use cuda_fp16.h instead behind #ifdef __SIMT__"
