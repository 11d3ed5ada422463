#pragma once
#error "CUB runs on GPUs only: build this file for the cuda build, with nvcc"
