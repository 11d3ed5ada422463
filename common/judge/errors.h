// Why a request cannot be served, as far as the caller must distinguish the reasons.
#pragma once

#include "step/error.h"

namespace lab {

/// This machine does not have enough memory for a case. The step is not to blame.
class NoMemory : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

/// A program or a resource of this machine is missing.
class Unavailable : public Error {
 public:
  using Error::Error;
};

}  // namespace lab
