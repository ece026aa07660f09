#include "hewn/runtime/plan.h"

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"

namespace hewn::runtime {
namespace {

/// Turns nodes into steps: which nodes share a step, and what each step reads and writes.
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

  void run(Plan& plan) {
    plan.input_value = start(plan);
    for (int32_t i = 1; i < static_cast<int32_t>(graph_.nodes.size()); ++i) {
      if (value_[static_cast<size_t>(i)] < 0) schedule(plan, i);
    }
    plan.output_value = value_.back();
  }

 private:
  const Node& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  int32_t value(int32_t i) const { return value_[static_cast<size_t>(i)]; }

  int32_t new_value(Plan& plan, const Shape& shape) const {
    plan.values.push_back({{shape.channels, shape.height, shape.width, 0}, -1});
    return static_cast<int32_t>(plan.values.size()) - 1;
  }

  /// Samples lie in memory as flatten wants them: where nothing else reads the input, it costs nothing.
  int32_t start(Plan& plan) {
    bool flat = graph_.nodes.size() > 1;
    for (const Node& node : graph_.nodes) {
      if (std::count(node.inputs.begin(), node.inputs.end(), 0) > 0) flat = flat && node.op == Op::kFlatten;
    }
    const Shape& shape = shapes_.front();
    const int32_t input = new_value(plan, flat ? Shape{shape.elements(), 1, 1} : shape);
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

  void schedule(Plan& plan, int32_t first) {
    const Node& from = node(first);
    Step step;
    step.op = from.op == Op::kRelu ? Op::kAdd : from.op;
    step.in = value(from.inputs[0]);
    step.window = from.window;
    step.pad = from.pad;
    step.relu = from.op == Op::kRelu;
    if (from.op == Op::kAdd) step.add = value(from.inputs[1]);
    int32_t head = first;
    int32_t next = only_reader(head);
    if (has_weight(from) && next >= 0 && node(next).op == Op::kAdd) {
      const auto& sides = node(next).inputs;
      const int32_t other = sides[0] == head ? sides[1] : sides[0];
      // The later of two products takes the add along: what it adds is there by then.
      if (other < first) {
        step.add = value(other);
        head = next;
        next = only_reader(head);
      }
    }
    if ((has_weight(from) || from.op == Op::kAdd) && next >= 0 && node(next).op == Op::kRelu) {
      step.relu = true;
      head = next;
    }
    step.out = new_value(plan, shapes_[static_cast<size_t>(head)]);
    if (has_weight(from)) step.layer = layers_++;
    if (from.op == Op::kEmbedding) step.table = tables_++;
    for (int32_t i = first; i != head; i = only_reader(i)) value_[static_cast<size_t>(i)] = step.out;
    value_[static_cast<size_t>(head)] = step.out;
    plan.steps.push_back(step);
  }

  const Graph& graph_;
  const std::vector<Shape>& shapes_;
  std::vector<int32_t> uses_;
  std::vector<int32_t> value_;     // of each node
  std::vector<int32_t> consumer_;  // the last node that reads each
  int32_t layers_ = 0;
  int32_t tables_ = 0;
};

/// Convolutions read into the border of their input; values that are added lie at the same places.
void choose_borders(Plan& plan) {
  const auto border = [&](int32_t value) -> int64_t& {
    return plan.values[static_cast<size_t>(value)].image.border;
  };
  for (const Step& step : plan.steps) {
    if (step.op == Op::kConv2d) border(step.in) = std::max(border(step.in), step.window.padding);
  }
  for (bool changed = true; changed;) {
    changed = false;
    const auto level = [&](int32_t a, int32_t b) {
      if (border(a) == border(b)) return;
      border(a) = border(b) = std::max(border(a), border(b));
      changed = true;
    };
    for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
      if (step->add >= 0) level(step->add, step->out);
      if (step->op == Op::kAdd) level(step->in, step->out);
    }
  }
}

/// Gives every value a buffer that is free from its first to its last use.
class BufferPlanner {
 public:
  explicit BufferPlanner(Plan& plan) : plan_(plan), last_(plan.values.size(), -1) {
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      for (const int32_t value : {plan.steps[s].in, plan.steps[s].add, plan.steps[s].out}) {
        if (value >= 0) last_[static_cast<size_t>(value)] = static_cast<int64_t>(s);
      }
    }
    last_[static_cast<size_t>(plan.output_value)] = std::numeric_limits<int64_t>::max();
  }

  void run() {
    take(plan_.input_value);
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      const auto ends = [&](int32_t value) {
        return value >= 0 && last_[static_cast<size_t>(value)] == static_cast<int64_t>(s);
      };
      // Each place is read before it is written, unless a product adds up in chunks (linear) or its
      // neighbours still need the old value.
      if (step.op == Op::kConv2d && ends(step.add) && step.add != step.in) {
        value(step.out).buffer = value(step.add).buffer;
      } else if (step.op == Op::kAdd && ends(step.in)) {
        value(step.out).buffer = value(step.in).buffer;
      } else {
        take(step.out);
      }
      if (ends(step.in)) give_back(step.in, step.out);
      if (ends(step.add) && step.add != step.in) give_back(step.add, step.out);
      if (ends(step.out)) give_back(step.out, -1);
    }
  }

 private:
  Value& value(int32_t i) { return plan_.values[static_cast<size_t>(i)]; }

  void take(int32_t i) {
    const kernels::ImageShape& image = value(i).image;
    const bool bordered = image.border > 0;
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const Buffer& buffer = plan_.buffers[static_cast<size_t>(*it)];
      if (buffer.bordered != bordered || (bordered && image_of_[static_cast<size_t>(*it)] != image)) continue;
      const bool larger = best == free_.end() || buffer.rows > plan_.buffers[static_cast<size_t>(*best)].rows;
      if (larger) best = it;
    }
    if (best == free_.end()) {
      plan_.buffers.push_back({image.rows(), bordered});
      image_of_.push_back(image);
      value(i).buffer = static_cast<int32_t>(plan_.buffers.size()) - 1;
      return;
    }
    value(i).buffer = *best;
    Buffer& buffer = plan_.buffers[static_cast<size_t>(*best)];
    buffer.rows = std::max(buffer.rows, image.rows());
    free_.erase(best);
  }

  /// Unless `heir` has it now.
  void give_back(int32_t i, int32_t heir) {
    if (heir < 0 || value(heir).buffer != value(i).buffer) free_.push_back(value(i).buffer);
  }

  Plan& plan_;
  std::vector<int64_t> last_;  // step that reads or writes each value last
  std::vector<int32_t> free_;
  std::vector<kernels::ImageShape> image_of_;  // of each buffer's first value
};

PlannedLayer pack_layer(Layer& layer, const Node& node, const kernels::ImageShape& in) {
  PlannedLayer out{node.op == Op::kLinear ? kernels::Packed::linear(layer.pattern)
                                          : kernels::Packed::conv(layer.pattern, node.window, in),
                   std::move(layer.bias)};
  out.weight.fill(layer.values.data());
  layer.values = {};
  layer.bf16 ? out.weight.freeze_as_bf16() : out.weight.freeze();
  return out;
}

PlannedTable keep_table(Table& table, const Node& node) {
  PlannedTable out;
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

int64_t Plan::activation_floats() const {
  int64_t floats = 0;
  for (const Buffer& buffer : buffers) floats += buffer.rows;
  return floats;
}

Plan make_plan(ModelData model, const Limits& limits) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, limits);
  Plan plan;
  plan.input = shapes.front();
  plan.output = shapes.back();
  Scheduler(model.graph, shapes).run(plan);
  choose_borders(plan);
  for (const Value& value : plan.values) {
    check_size({value.image.channels, value.image.height, value.image.width}, value.image.border, limits);
  }
  BufferPlanner(plan).run();
  if (plan.activation_floats() > limits.activation_floats) {
    throw Error(str("the activations of one sample need ", plan.activation_floats(), " floats, more than ",
                    limits.activation_floats));
  }
  size_t step = 0;
  for (const Node& node : model.graph.nodes) {
    if (node.op == Op::kEmbedding) plan.tables.push_back(keep_table(model.tables.at(node.name), node));
    if (!has_weight(node)) continue;
    while (plan.steps[step].layer < 0) ++step;
    const Value& in = plan.values[static_cast<size_t>(plan.steps[step].in)];
    const Value& out = plan.values[static_cast<size_t>(plan.steps[step].out)];
    ++step;
    plan.layers.push_back(pack_layer(model.layers.at(node.name), node, in.image));
    plan.products += plan.layers.back().weight.products() * out.image.height * out.image.width;
  }
  return plan;
}

}  // namespace hewn::runtime
