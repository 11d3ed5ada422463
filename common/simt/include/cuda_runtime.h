// CUDA C++ for an ordinary C++ compiler: a kernel becomes a function, a device thread becomes a fiber (simt/launch.h),
// and this machine's processor becomes the device (simt/runtime.h). Every .cu file is compiled with this header
// included first, as nvcc does with its own. What is missing is not declared, so that the compiler names it.
#pragma once

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>

#include "simt/atomic.h"
#include "simt/conversions.h"
#include "simt/device.h"
#include "simt/error.h"
#include "simt/intrinsics.h"
#include "simt/keywords.h"
#include "simt/launch.h"
#include "simt/launch_by_address.h"
#include "simt/loads.h"
#include "simt/mathematics.h"
#include "simt/named_barriers.h"
#include "simt/nv_atomic.h"
#include "simt/packed.h"
#include "simt/ptx.h"
#include "simt/rounding.h"
#include "simt/runtime.h"
#include "simt/saturation.h"
#include "simt/shifts.h"
#include "simt/textures.h"
#include "simt/types.h"
