// In CUDA on the CPU, this is part of cuda_runtime.h.
#include "cuda_runtime.h"
