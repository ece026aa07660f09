#pragma once

#include <cstdint>
#include <vector>

#include "hewn/runtime/program.h"

namespace hewn::runtime {

/// One panel on its way through the network: where each buffer of the program lies, and its columns.
struct PanelView {
  const std::vector<float*>& buffers;
  int64_t columns = 0;
};

/// Does the `part`-th of `parts` equal shares of an instruction. Shares write different rows, so threads can
/// work on them side by side; every number comes out the same however many there are.
void run_instruction(const Program& program, const Instruction& instruction, const PanelView& panel,
                     int64_t part, int64_t parts);

}  // namespace hewn::runtime
