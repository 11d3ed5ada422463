#pragma once
#error "NVRTC is for GPUs only: build with nvcc, or write a kernel instead behind #ifdef __SIMT__"
