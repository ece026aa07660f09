#include "hewn/runtime/program.h"

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {
namespace {

/// Turns nodes into instructions: which nodes share an instruction, and what each instruction reads and
/// writes.
class Scheduler {
 public:
  Scheduler(const Graph& graph, const std::vector<Shape>& shapes)
      : graph_(graph),
        shapes_(shapes),
        uses_(count_uses(graph)),
        value_(graph.nodes.size(), -1),
        consumer_(graph.nodes.size(), -1) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const int32_t in : graph.nodes[i].inputs)
        consumer_[static_cast<size_t>(in)] = static_cast<int32_t>(i);
    }
  }

  void run(Program& program) {
    program.input_value = start(program);
    for (int32_t i = 1; i < static_cast<int32_t>(graph_.nodes.size()); ++i) {
      if (value_[static_cast<size_t>(i)] < 0) schedule(program, i);
    }
    program.output_value = value_.back();
  }

 private:
  const Node& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  int32_t value(int32_t i) const { return value_[static_cast<size_t>(i)]; }

  int32_t new_value(Program& program, const Shape& shape) const {
    program.values.push_back({{shape.channels, shape.height, shape.width, 0}, -1});
    return static_cast<int32_t>(program.values.size()) - 1;
  }

  /// Samples lie in memory as flatten wants them: where nothing else reads the input, it costs nothing.
  int32_t start(Program& program) {
    bool flat = graph_.nodes.size() > 1;
    for (const Node& node : graph_.nodes) {
      if (std::count(node.inputs.begin(), node.inputs.end(), 0) > 0) flat = flat && node.op == Op::kFlatten;
    }
    const Shape& shape = shapes_.front();
    const int32_t input = new_value(program, flat ? Shape{shape.elements(), 1, 1} : shape);
    value_.front() = input;
    for (size_t i = 1; flat && i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].inputs.front() == 0) value_[i] = input;
    }
    return input;
  }

  /// The one node that reads `i`, or -1.
  int32_t only_reader(int32_t i) const {
    return uses_[static_cast<size_t>(i)] == 1 ? consumer_[static_cast<size_t>(i)] : -1;
  }

  void schedule(Program& program, int32_t first) {
    const Node& from = node(first);
    const Operator& op = operator_of(from.op);
    if (op.run == nullptr) throw Error(str("graph node ", first, " (", op.name, "): cannot be run"));
    Instruction instruction;
    instruction.node = from;
    instruction.in = value(from.inputs[0]);
    if (op.inputs > 1) instruction.add = value(from.inputs[1]);
    int32_t head = first;
    int32_t next = only_reader(head);
    if (op.takes_add && next >= 0 && node(next).op == Op::kAdd) {
      const auto& sides = node(next).inputs;
      const int32_t other = sides[0] == head ? sides[1] : sides[0];
      // The later of two products takes the add along: what it adds is there by then.
      if (other < first) {
        instruction.add = value(other);
        head = next;
        next = only_reader(head);
      }
    }
    if (op.takes_relu && next >= 0 && node(next).op == Op::kRelu) {
      instruction.relu = true;
      head = next;
    }
    instruction.out = new_value(program, shapes_[static_cast<size_t>(head)]);
    if (has_weight(from)) instruction.layer = layers_++;
    if (has_table(from)) instruction.table = tables_++;
    for (int32_t i = first; i != head; i = only_reader(i)) value_[static_cast<size_t>(i)] = instruction.out;
    value_[static_cast<size_t>(head)] = instruction.out;
    program.instructions.push_back(std::move(instruction));
  }

  const Graph& graph_;
  const std::vector<Shape>& shapes_;
  std::vector<int32_t> uses_;
  std::vector<int32_t> value_;     // of each node
  std::vector<int32_t> consumer_;  // the last node that reads each
  int32_t layers_ = 0;
  int32_t tables_ = 0;
};

/// Some ops read into the border of their input; values that are added lie at the same places.
void choose_borders(Program& program) {
  const auto border = [&](int32_t value) -> int64_t& {
    return program.values[static_cast<size_t>(value)].image.border;
  };
  for (const Instruction& instruction : program.instructions) {
    if (operator_of(instruction.node.op).reads_border)
      border(instruction.in) = std::max(border(instruction.in), instruction.node.window.padding);
  }
  for (bool changed = true; changed;) {
    changed = false;
    const auto level = [&](int32_t a, int32_t b) {
      if (border(a) == border(b)) return;
      border(a) = border(b) = std::max(border(a), border(b));
      changed = true;
    };
    for (auto instruction = program.instructions.rbegin(); instruction != program.instructions.rend();
         ++instruction) {
      if (instruction->add >= 0) level(instruction->add, instruction->out);
      if (operator_of(instruction->node.op).pointwise) level(instruction->in, instruction->out);
    }
  }
}

/// Gives every value a buffer that is free from its first to its last use.
class BufferAssigner {
 public:
  explicit BufferAssigner(Program& program) : program_(program), last_(program.values.size(), -1) {
    for (size_t s = 0; s < program.instructions.size(); ++s) {
      for (const int32_t value :
           {program.instructions[s].in, program.instructions[s].add, program.instructions[s].out}) {
        if (value >= 0) last_[static_cast<size_t>(value)] = static_cast<int64_t>(s);
      }
    }
    last_[static_cast<size_t>(program.output_value)] = std::numeric_limits<int64_t>::max();
  }

  void run() {
    take(program_.input_value);
    for (size_t s = 0; s < program_.instructions.size(); ++s) {
      const Instruction& instruction = program_.instructions[s];
      const Operator& op = operator_of(instruction.node.op);
      const auto ends = [&](int32_t value) {
        return value >= 0 && last_[static_cast<size_t>(value)] == static_cast<int64_t>(s);
      };
      // Each place is read before it is written, unless a product adds up in chunks (linear) or its
      // neighbours still need the old value.
      if (op.writes_over_addend && ends(instruction.add) && instruction.add != instruction.in) {
        value(instruction.out).buffer = value(instruction.add).buffer;
      } else if (op.pointwise && ends(instruction.in)) {
        value(instruction.out).buffer = value(instruction.in).buffer;
      } else {
        take(instruction.out);
      }
      if (ends(instruction.in)) give_back(instruction.in, instruction.out);
      if (ends(instruction.add) && instruction.add != instruction.in)
        give_back(instruction.add, instruction.out);
      if (ends(instruction.out)) give_back(instruction.out, -1);
    }
  }

 private:
  Value& value(int32_t i) { return program_.values[static_cast<size_t>(i)]; }

  void take(int32_t i) {
    const kernels::ImageShape& image = value(i).image;
    const bool bordered = image.border > 0;
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(*it)];
      if (buffer.bordered != bordered || (bordered && image_of_[static_cast<size_t>(*it)] != image)) continue;
      const bool larger =
          best == free_.end() || buffer.rows > program_.buffers[static_cast<size_t>(*best)].rows;
      if (larger) best = it;
    }
    if (best == free_.end()) {
      program_.buffers.push_back({image.rows(), bordered});
      image_of_.push_back(image);
      value(i).buffer = static_cast<int32_t>(program_.buffers.size()) - 1;
      return;
    }
    value(i).buffer = *best;
    Buffer& buffer = program_.buffers[static_cast<size_t>(*best)];
    buffer.rows = std::max(buffer.rows, image.rows());
    free_.erase(best);
  }

  /// Unless `heir` has it now.
  void give_back(int32_t i, int32_t heir) {
    if (heir < 0 || value(heir).buffer != value(i).buffer) free_.push_back(value(i).buffer);
  }

  Program& program_;
  std::vector<int64_t> last_;  // instruction that reads or writes each value last
  std::vector<int32_t> free_;
  std::vector<kernels::ImageShape> image_of_;  // of each buffer's first value
};

PackedLayer pack_layer(Layer& layer, const Node& node, const kernels::ImageShape& in) {
  PackedLayer out{operator_of(node.op).pack(layer.pattern, node, in), std::move(layer.bias)};
  out.weight.fill(layer.values.data());
  layer.values = {};
  layer.bf16 ? out.weight.freeze_as_bf16() : out.weight.freeze();
  return out;
}

PackedTable keep_table(Table& table, const Node& node) {
  PackedTable out;
  out.width = node.width;
  out.first.assign(1, 0);
  for (const int64_t size : node.vocabularies) out.first.push_back(out.first.back() + size);
  if (!table.bf16) {
    out.values = std::move(table.values);
    return out;
  }
  out.halves.resize(table.values.size());
  std::transform(table.values.begin(), table.values.end(), out.halves.begin(), kernels::bf16_from);
  table.values = {};
  return out;
}

}  // namespace

int64_t Program::activation_floats() const {
  int64_t floats = 0;
  for (const Buffer& buffer : buffers) floats += buffer.rows;
  return floats;
}

Program make_program(ModelData model, const Limits& limits) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, limits);
  Program program;
  program.input = shapes.front();
  program.output = shapes.back();
  Scheduler(model.graph, shapes).run(program);
  choose_borders(program);
  for (const Value& value : program.values) {
    check_size({value.image.channels, value.image.height, value.image.width}, value.image.border, limits);
  }
  BufferAssigner(program).run();
  if (program.activation_floats() > limits.activation_floats) {
    throw Error(str("the activations of one sample need ", program.activation_floats(), " floats, more than ",
                    limits.activation_floats));
  }
  size_t instruction = 0;
  for (const Node& node : model.graph.nodes) {
    if (has_table(node)) program.tables.push_back(keep_table(model.tables.at(node.name), node));
    if (!has_weight(node)) continue;
    while (program.instructions[instruction].layer < 0) ++instruction;
    const Value& in = program.values[static_cast<size_t>(program.instructions[instruction].in)];
    const Value& out = program.values[static_cast<size_t>(program.instructions[instruction].out)];
    ++instruction;
    program.layers.push_back(pack_layer(model.layers.at(node.name), node, in.image));
    program.products += program.layers.back().weight.products() * out.image.height * out.image.width;
  }
  return program;
}

}  // namespace hewn::runtime
