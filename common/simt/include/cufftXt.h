// Many programs include it for what cufft.h has. Callbacks, half precision and several GPUs are not declared, so that
// the compiler names them.
#pragma once

#include "cufft.h"
