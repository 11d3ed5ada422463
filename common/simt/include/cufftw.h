#pragma once
#error "names of FFTW in cuFFT (cufftw.h) are for GPUs only: build with nvcc, or use cufft.h instead"
