// The program's global variables: __device__, __constant__ and __managed__ variables are among them.
#pragma once

#include <cstddef>

namespace simt {

/// Do all these bytes belong to global variables of the program (to one, or to several next to each other)?
bool is_global(const void* pointer, std::size_t bytes);
/// The same, for variables that are not constant.
bool is_writable_global(const void* pointer, std::size_t bytes);

/// Makes a __device__ or __constant__ variable one that kernels may reach through a pointer.
void allow_pointers_to(const void* symbol, std::size_t bytes);
/// The program's __managed__ variables.
bool is_managed_variable(const void* pointer);
std::size_t managed_bytes();

/// Is this an address in a __managed__ variable, or in a variable given to allow_pointers_to()?
bool is_device_variable(const void* pointer);

}  // namespace simt
