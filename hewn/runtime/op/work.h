#pragma once

#include <cstdint>

#include "hewn/core/share.h"
#include "hewn/runtime/instructions.h"

namespace hewn::runtime {

/// An instruction's values in one panel.
class Work {
 public:
  Work(const Program& program, const Instruction& what, const PanelView& panel)
      : node(what.node),
        in(image(program, what.in)),
        out(image(program, what.out)),
        columns(panel.columns),
        relu(what.relu) {
    from = data(program, panel, what.in);
    to = data(program, panel, what.out);
    if (what.add >= 0) add = data(program, panel, what.add);
    if (what.layer >= 0) layer = &program.layers[static_cast<size_t>(what.layer)];
    if (what.table >= 0) table = &program.tables[static_cast<size_t>(what.table)];
  }

  const Node& node;
  const kernels::ImageShape& in;
  const kernels::ImageShape& out;
  const int64_t columns;
  const bool relu;  // taken along
  const float* from = nullptr;
  const float* add = nullptr;  // taken along, or the node's second input
  float* to = nullptr;
  const PackedLayer* layer = nullptr;  // where the op has a weight
  const PackedTable* table = nullptr;  // where it has one

 private:
  static const kernels::ImageShape& image(const Program& program, int32_t value) {
    return program.values[static_cast<size_t>(value)].image;
  }
  static float* data(const Program& program, const PanelView& panel, int32_t value) {
    return panel.buffers[static_cast<size_t>(program.values[static_cast<size_t>(value)].buffer)];
  }
};

}  // namespace hewn::runtime
