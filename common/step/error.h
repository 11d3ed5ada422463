// Errors that a step, a runner or the judge reports. All derive from lab::Error, so one catch at the top of a program
// turns any of them into one clear line.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace lab {

/// Any error of the workbook. `what()` describes what happened and what to do next.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A step was given an argument that it cannot serve. Thrown before anything is changed.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// A starter's gap that is not filled yet.
class NotWritten : public Error {
 public:
  using Error::Error;
};

/// A CUDA call failed: the call as written, its file and line, and the runtime's name for the error.
class CudaError : public Error {
 public:
  CudaError(cudaError_t code, const char* call, const char* file, int line)
      : Error(std::string(file) + ":" + std::to_string(line) + ": " + call + " failed: " + cudaGetErrorName(code) +
              " (" + cudaGetErrorString(code) + ")"),
        code(code) {}

  const cudaError_t code;
};

/// Throws CudaError unless `code` is cudaSuccess. Called through CUDA_CHECK, which knows the call's text and place.
inline void check_cuda(cudaError_t code, const char* call, const char* file, int line) {
  if (code != cudaSuccess) throw CudaError(code, call, file, line);
}

[[noreturn]] inline void not_written(const char* what, const char* file, int line) {
  throw NotWritten(std::string(file) + ":" + std::to_string(line) + ": " + what + " is not written yet");
}

}  // namespace lab

/// Checks one CUDA call. After a kernel launch: CUDA_CHECK(cudaGetLastError()).
#define CUDA_CHECK(call) ::lab::check_cuda((call), #call, __FILE__, __LINE__)

/// Takes the place of the student's code in a starter: NOT_WRITTEN("step 02").
#define NOT_WRITTEN(what) ::lab::not_written(what, __FILE__, __LINE__)
