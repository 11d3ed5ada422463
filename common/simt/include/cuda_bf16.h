// Found before a GPU's own header, which does not fit what is here.
#pragma once
#error "__nv_bfloat16 is for GPUs only: build this file with nvcc"
