// What the headers of a lab include, too.
#pragma once

#include "step/device_array.h"
#include "step/error.h"
#include "step/step.h"
