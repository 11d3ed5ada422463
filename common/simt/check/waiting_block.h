// What the observers know about a block that waits for other blocks, while those run.
#pragma once

#include <memory>

namespace simt::check {

class WaitingBlock {
 public:
  virtual ~WaitingBlock() = default;
};

/// The running block leaves, and another one begins or continues.
std::unique_ptr<WaitingBlock> put_aside();
void continue_block(std::unique_ptr<WaitingBlock> block);

}  // namespace simt::check
