#pragma once
#error "cuBLASXt is for GPUs only: build with nvcc, or use cublas_v2.h instead behind #ifdef __SIMT__"
