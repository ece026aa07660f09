#include "hewn/flow/builder.h"

#include "hewn/core/error.h"

namespace hewn::flow {

Builder::Builder(const Special& special, WeightCache& cache)
    : done(special.graph.nodes.size(), false),
      deferred(special.graph.nodes.size(), false),
      special_(special),
      cache_(cache),
      uses_(count_uses(special.graph)),
      reader_(special.graph.values.size(), kNone),
      makers_(makers(special.graph)),
      pitches_(special.graph.values.size()) {
  for (size_t i = 0; i < graph().nodes.size(); ++i) {
    for (const int32_t value : graph().nodes[i].inputs) {
      if (value != kNone) reader_[static_cast<size_t>(value)] = static_cast<int32_t>(i);
    }
  }
  for (size_t i = 0; i < graph().inputs.size(); ++i) {
    const int32_t value = graph().inputs[i].value;
    Slot slot{.spec = spec(value), .planes = {}};
    slot.input = static_cast<int32_t>(i);
    plain_slot_[value] = new_slot(std::move(slot));
    plan.inputs.push_back(plain_slot_[value]);
  }
}

int32_t Builder::only_reader(int32_t value) const {
  return uses(value) == 1 ? reader_[static_cast<size_t>(value)] : kNone;
}

void Builder::mark(int32_t value, int64_t axis) {
  marks_[value] = axis;
  const Dims& dims = spec(value).dims;
  if (axis == 1 && dims.size() == 4) pitches_.add(value, dims[2], dims[3]);
}

int64_t Builder::marked(int32_t value) const {
  const auto found = marks_.find(value);
  return found == marks_.end() ? -1 : found->second;
}

Planes Builder::planes(int32_t value, int64_t axis) {
  const Dims& dims = spec(value).dims;
  if (dims.size() == 4 && axis == 1) return pitches_.planes(value, dims[1], dims[0], dims[2], dims[3]);
  const int64_t channels = dims.empty() ? 1 : dims.back();
  const int64_t images = channels == 0 ? 0 : spec(value).elements() / channels;
  return planes_of(channels, images, 1, 1, 1, 1, 0);
}

int32_t Builder::new_slot(Slot slot) {
  constexpr size_t kLine = 64;
  // Tiles read and write whole vectors: room behind the last row.
  const auto floats = slot.planes ? slot.planes->floats() + 64 : slot.spec.elements();
  slot.bytes =
      (static_cast<size_t>(floats) * (slot.planes ? sizeof(float) : size_of(slot.spec.type)) + kLine) /
      kLine * kLine;
  plan.slots.push_back(std::move(slot));
  return static_cast<int32_t>(plan.slots.size()) - 1;
}

int32_t Builder::scratch(size_t bytes) {
  Slot slot{.spec = {}, .planes = {}};
  const int32_t out = new_slot(std::move(slot));
  plan.slots.back().bytes = (bytes + 127) / 64 * 64;
  return out;
}

int32_t Builder::new_plain(int32_t value) {
  return plain_slot_[value] = new_slot({.spec = spec(value), .planes = {}});
}

int32_t Builder::new_rows(int32_t value, int64_t axis) {
  return planes_slot_[{value, axis}] = new_slot({.spec = spec(value), .planes = planes(value, axis)});
}

/// Whether one value alone lies there, in the plan's memory.
bool Builder::owns(int32_t slot) const {
  const Slot& s = plan.slots[static_cast<size_t>(slot)];
  if (s.input != kNone || s.constant != nullptr) return false;
  int64_t values = 0;
  for (const auto& [other, at] : plain_slot_) values += at == slot ? 1 : 0;
  for (const auto& [other, at] : planes_slot_) values += at == slot ? 1 : 0;
  return values == 1;
}

int32_t Builder::rows_over(int32_t value, int64_t axis, int32_t slot) {
  std::erase_if(planes_slot_, [&](const auto& entry) { return entry.second == slot; });
  set_bordered(slot, false);
  return planes_slot_[{value, axis}] = slot;
}

bool Builder::free_after(int32_t value, int32_t slot) const { return uses(value) == 1 && owns(slot); }

bool Builder::last_read(int32_t value, int32_t slot, int32_t reader) const {
  const auto reads = [&](const Node& other) {
    return std::find(other.inputs.begin(), other.inputs.end(), value) != other.inputs.end();
  };
  for (size_t i = 0; i < graph().nodes.size(); ++i) {
    const auto number = static_cast<int32_t>(i);
    if ((number >= lowering || deferred[i]) && number != reader && reads(graph().nodes[i])) return false;
  }
  const auto& outputs = graph().outputs;
  return owns(slot) &&
         std::none_of(outputs.begin(), outputs.end(), [&](const Port& port) { return port.value == value; });
}

int32_t Builder::plain(int32_t value) {
  const auto found = plain_slot_.find(value);
  if (found != plain_slot_.end()) return found->second;
  if (const Tensor* tensor = constant(value)) {
    plan.constants.push_back(*tensor);
    Slot slot{.spec = tensor->spec(), .planes = {}};
    slot.constant = tensor->bytes();
    return plain_slot_[value] = new_slot(std::move(slot));
  }
  if (in_words(value, 1) && rank(value) == 4) rows(value, 1);
  if (in_words(value, last_axis(value))) rows(value, last_axis(value));
  const bool images = planes_slot_.contains({value, 1}) && rank(value) == 4;
  const int32_t from = planes_slot_.at({value, images ? 1 : last_axis(value)});
  const Planes planes = *plan.slots[static_cast<size_t>(from)].planes;
  const int32_t to = new_plain(value);
  add({.what = "row-major " + graph().name(value),
       .reads = {from},
       .writes = {to},
       .run =
           [=](const Memory& memory, int64_t part, int64_t parts) {
             float* out = memory.floats(to);
             float* in = memory.floats(from);
             if (images) {
               const Range channels = share(planes.channels, part, parts);
               return copy_lines(planes, lines_of(planes, in), lines_of_plain(planes, out), channels.begin,
                                 channels.end);
             }
             const Range columns = share(planes.images, part, parts);
             from_rows(in + planes.lead, planes.channels, planes.stride, out, columns.begin, columns.end);
           },
       .converts = true,
       .work = spec(value).elements()});
  return to;
}

int32_t Builder::rows(int32_t value, int64_t axis, bool bordered) {
  if (in_words(value, axis) && !planes_slot_.contains({value, axis})) rows_of_words(value, axis);
  const auto found = planes_slot_.find({value, axis});
  if (found != planes_slot_.end()) {
    Slot& slot = plan.slots[static_cast<size_t>(found->second)];
    if (!bordered || slot.bordered || !slot.planes) return found->second;
    slot.bordered = true;
    const int32_t at = found->second;
    const Planes planes = *slot.planes;
    add({.what = "border of " + graph().name(value),
         .reads = {at},
         .writes = {at},
         .run =
             [=](const Memory& memory, int64_t part, int64_t parts) {
               const Range channels = share(planes.channels, part, parts);
               clear_border(planes, memory.floats(at), channels.begin, channels.end);
             },
         .work = planes.channels * planes.images * planes.height});
    return at;
  }
  const int32_t from = plain(value);
  const Planes to_planes = planes(value, axis);
  const int32_t to = new_rows(value, axis);
  plan.slots[static_cast<size_t>(to)].bordered = bordered;
  const bool images = rank(value) == 4 && axis == 1;
  add({.what = "planes of " + graph().name(value),
       .reads = {from},
       .writes = {to},
       .run =
           [=](const Memory& memory, int64_t part, int64_t parts) {
             float* out = memory.floats(to);
             float* in = memory.floats(from);
             if (images) {
               const Range channels = share(to_planes.channels, part, parts);
               copy_lines(to_planes, lines_of_plain(to_planes, in), lines_of(to_planes, out), channels.begin,
                          channels.end);
               if (bordered) clear_border(to_planes, out, channels.begin, channels.end);
               return;
             }
             const Range columns = share(to_planes.images, part, parts);
             to_rows(in, to_planes.channels, to_planes.stride, out + to_planes.lead, columns.begin,
                     columns.end);
           },
       .converts = true,
       .work = spec(value).elements()});
  return to;
}

namespace {

struct Kind {
  bool (*plans)(Builder& builder, const Node& node);
  void (*lower)(Builder& builder, int32_t node);
};
constexpr Kind kKinds[] = {{plans_attention, lower_attention}, {plans_bytes, lower_bytes},
                           {plans_pairs, lower_pairs},         {plans_byte_pool, lower_byte_pool},
                           {plans_conv, lower_conv},           {plans_product, lower_product},
                           {plans_pool, lower_pool},           {plans_norm, lower_norm},
                           {plans_channels, lower_channels},   {plans_elementwise, lower_elementwise}};

}  // namespace

bool wants_planes(Builder& builder, const Node& node) {
  return std::any_of(std::begin(kKinds), std::end(kKinds),
                     [&](const Kind& kind) { return kind.plans(builder, node); });
}

void lower(Builder& builder, int32_t node) {
  for (const Kind& kind : kKinds) {
    if (kind.plans(builder, builder.graph().nodes[static_cast<size_t>(node)]))
      return kind.lower(builder, node);
  }
  lower_plain(builder, node);
}

Plan make_plan(const Special& special, WeightCache& weights, size_t most_bytes) {
  Builder builder(special, weights);
  const Graph& graph = special.graph;
  find_attention(builder);
  builder.deferred = builder.done;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!builder.done[i]) wants_planes(builder, graph.nodes[i]);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (builder.done[i]) continue;
    builder.lowering = static_cast<int32_t>(i);
    lower(builder, builder.lowering);
  }
  for (const Port& port : graph.outputs) {
    builder.plan.outputs.push_back(builder.plain(port.value));
    builder.plan.output_specs.push_back(builder.spec(port.value));
  }
  Plan plan = std::move(builder.plan);
  place_slots(plan);
  if (plan.bytes > most_bytes) {
    throw Error(str("activations need ", plan.bytes, " bytes, more than ", most_bytes));
  }
  for (const Step& step : plan.steps) plan.work += step.work;
  return plan;
}

}  // namespace hewn::flow
