#include "hewn/runtime/instructions.h"

#include "hewn/runtime/op/operator.h"
#include "hewn/runtime/op/work.h"

namespace hewn::runtime {

void run_instruction(const Program& program, const Instruction& instruction, const PanelView& panel,
                     int64_t part, int64_t parts) {
  operator_of(instruction.node.op).run(Work(program, instruction, panel), part, parts);
}

}  // namespace hewn::runtime
