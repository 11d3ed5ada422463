#pragma once
#error "tensor cores (wmma) are for GPUs only: build with nvcc, or write a kernel instead behind #ifdef __SIMT__"
