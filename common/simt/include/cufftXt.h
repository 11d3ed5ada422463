#pragma once
#error "callbacks and several GPUs of cuFFT (cufftXt.h) are for GPUs only: build with nvcc, or use cufft.h instead"
