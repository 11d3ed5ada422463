#pragma once
#error "callbacks, half precision and several GPUs in cuFFT (cufftXt.h) are for GPUs only: build with nvcc, or use cufft.h instead behind #ifdef __SIMT__"
