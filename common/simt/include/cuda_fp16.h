// Found before a GPU's own header, which does not fit what is here.
#pragma once
#error "__half is for GPUs only: build this file with nvcc"
