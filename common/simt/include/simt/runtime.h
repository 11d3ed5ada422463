// CUDA's host interface: device queries, memory, streams, events. There is one device, which is this machine's
// processor.
//
// Names, numbers and errors are those of the CUDA Runtime API (13.0). What is missing is not declared, so that the
// compiler names it. This device differs from a GPU as follows:
//  - Copies, fills and kernels are finished when the call that queues them returns. Streams and events are checked as
//    on a GPU, but nothing overlaps.
//  - A copy or fill that leaves its allocation by even one byte is refused (cudaErrorInvalidValue).
//  - New memory holds 0xCD in every byte, also when a pool hands it out again.
//  - The occupancy follows from the threads and the dynamic shared memory of a block. Registers and __shared__ arrays
//    are not known.
// After a kernel has failed, every call returns its error until cudaDeviceReset.
#pragma once

#include "simt/runtime/allocations.h"
#include "simt/runtime/copies.h"
#include "simt/runtime/device.h"
#include "simt/runtime/events.h"
#include "simt/runtime/graphs.h"
#include "simt/runtime/kernels.h"
#include "simt/runtime/pools.h"
#include "simt/runtime/streams.h"
#include "simt/runtime/symbols.h"
#include "simt/runtime/volumes.h"
