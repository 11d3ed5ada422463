#pragma once
#error "cuFFT with the names of FFTW (cufftw.h) is for GPUs only: build with nvcc, or use cufft.h instead behind #ifdef __SIMT__"
