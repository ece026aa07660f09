// What only moves whole channels: concatenating, cutting and shuffling them, and images of one pixel as
// vectors.
#include <algorithm>
#include <cstring>
#include <set>

#include "hewn/flow/lower/fuse.h"

namespace hewn::flow {
namespace {

bool images_in_planes(const Builder& builder, int32_t value) {
  return builder.rank(value) == 4 && builder.marked(value) == 1;
}

bool concatenates(const Builder& builder, const Node& node) {
  if (node.op != "Concat" || builder.rank(node.outputs[0]) != 4) return false;
  const int64_t axis = node.integer("axis", 0);
  return (axis == 1 || axis == -3) && std::all_of(node.inputs.begin(), node.inputs.end(), [&](int32_t value) {
           return images_in_planes(builder, value);
         });
}

/// The first channel of each output of a cut, or nothing.
std::vector<int64_t> cuts(const Builder& builder, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNone || !images_in_planes(builder, node.inputs[0])) return {};
  const int32_t x = node.inputs[0];
  std::vector<int64_t> first;
  if (node.op == "Split") {
    const int64_t axis = node.integer("axis", 0);
    if (axis != 1 && axis != -3) return {};
    int64_t at = 0;
    for (const int32_t value : node.outputs) {
      if (value == kNone) return {};
      first.push_back(at);
      at += builder.spec(value).dims[1];
    }
    return first;
  }
  if (node.op != "Slice" || node.inputs.size() < 4) return {};
  const auto one = [&](size_t input) -> const Tensor* {
    const Tensor* tensor = input < node.inputs.size() && node.inputs[input] != kNone
                               ? builder.constant(node.inputs[input])
                               : nullptr;
    return tensor != nullptr && tensor->elements() == 1 ? tensor : nullptr;
  };
  const Tensor* start = one(1);
  const Tensor* axis = one(3);
  if (start == nullptr || axis == nullptr) return {};
  if (axis->values<int64_t>()[0] != 1 && axis->values<int64_t>()[0] != -3) return {};
  if (node.inputs.size() > 4 && (one(4) == nullptr || one(4)->values<int64_t>()[0] != 1)) return {};
  const int64_t channels = builder.spec(x).dims[1];
  int64_t at = start->values<int64_t>()[0];
  if (at < 0) at += channels;
  if (at < 0 || at + builder.spec(node.outputs[0]).dims[1] > channels) return {};
  return {at};
}

/// Reshape to n x groups x channels x h x w, transpose of the two, and back: the node that ends it, or kNone.
int32_t shuffle_end(const Builder& builder, const Node& node, int64_t& groups) {
  if (node.op != "Reshape" || !images_in_planes(builder, node.inputs[0])) return kNone;
  const Dims& in = builder.spec(node.inputs[0]).dims;
  const Dims& split = builder.spec(node.outputs[0]).dims;
  if (split.size() != 5 || split[0] != in[0] || split[3] != in[2] || split[4] != in[3]) return kNone;
  const int32_t transpose = builder.only_reader(node.outputs[0]);
  if (transpose == kNone) return kNone;
  const Node& turn = builder.graph().nodes[static_cast<size_t>(transpose)];
  if (turn.op != "Transpose" || turn.integers("perm") != std::vector<int64_t>{0, 2, 1, 3, 4}) return kNone;
  const int32_t end = builder.only_reader(turn.outputs[0]);
  if (end == kNone) return kNone;
  const Node& back = builder.graph().nodes[static_cast<size_t>(end)];
  if (back.op != "Reshape" || builder.spec(back.outputs[0]).dims != in) return kNone;
  groups = split[1];
  return end;
}

/// n x c x 1 x 1 as n x c.
bool makes_vectors(const Builder& builder, const Node& node) {
  if (node.op != "Flatten" && node.op != "Reshape" && node.op != "Squeeze") return false;
  if (!images_in_planes(builder, node.inputs[0])) return false;
  const Dims& in = builder.spec(node.inputs[0]).dims;
  return in[2] == 1 && in[3] == 1 && builder.spec(node.outputs[0]).dims == Dims{in[0], in[1]};
}

/// Copies rows of channels: from[i] is the channel of `in` that becomes channel first + i of `out`.
void add_copy(Builder& builder, const std::string& what, int32_t in, int32_t out,
              const std::vector<int64_t>& from, int64_t first) {
  const Planes source = *builder.slot(in).planes;
  const Planes target = *builder.slot(out).planes;
  builder.add({.what = what,
               .reads = {in},
               .writes = {out},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Range range = share(static_cast<int64_t>(from.size()), part, parts);
                     for (int64_t i = range.begin; i < range.end; ++i) {
                       std::memcpy(memory.floats(out) + (first + i) * target.stride,
                                   memory.floats(in) + from[static_cast<size_t>(i)] * source.stride,
                                   static_cast<size_t>(target.stride) * sizeof(float));
                     }
                   },
               .work = static_cast<int64_t>(from.size()) * target.stride});
}

std::vector<int64_t> counted_from(int64_t first, int64_t count) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

}  // namespace

bool keeps_tokens(const Builder& builder, const Node& node) {
  static const std::set<std::string> kShapes = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  const int32_t x = node.inputs[0];
  const Dims& in = builder.spec(x).dims;
  const Dims& out = builder.spec(node.outputs[0]).dims;
  if (in.size() < 2 || out.size() < 2 || builder.spec(x).elements() == 0 ||
      builder.marked(x) != builder.last_axis(x) || in.back() != out.back())
    return false;
  if (kShapes.contains(node.op)) return true;
  if (node.op != "Transpose") return false;
  int64_t before = -1;
  for (const int64_t axis : node.integers("perm")) {
    if (in[static_cast<size_t>(axis)] == 1) continue;
    if (axis < before) return false;
    before = axis;
  }
  return before == builder.last_axis(x);
}

bool plans_channels(Builder& builder, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNone || builder.spec(node.inputs[0]).type != Type::kFloat)
    return false;
  int64_t groups = 0;
  if (makes_vectors(builder, node)) {
    builder.mark(node.outputs[0], 1);
    return true;
  }
  if (keeps_tokens(builder, node)) {
    builder.mark(node.outputs[0], builder.last_axis(node.outputs[0]));
    return true;
  }
  std::vector<int32_t> together;
  if (concatenates(builder, node)) {
    together = node.inputs;
    together.push_back(node.outputs[0]);
  } else if (const int32_t end = shuffle_end(builder, node, groups); end != kNone) {
    together = {node.inputs[0], builder.graph().nodes[static_cast<size_t>(end)].outputs[0]};
  } else if (!cuts(builder, node).empty()) {
    together = node.outputs;
    together.push_back(node.inputs[0]);
  } else {
    return false;
  }
  for (const int32_t value : together) {
    builder.mark(value, 1);
    builder.pitches().join(together[0], value);
  }
  return true;
}

void lower_channels(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  int64_t groups = 0;
  if (makes_vectors(builder, node)) {
    const int32_t in = builder.rows(node.inputs[0], 1);
    if (*builder.slot(in).planes == builder.planes(node.outputs[0], 1)) {
      return builder.same_rows(node.outputs[0], 1, in);
    }
    const Planes source = *builder.slot(in).planes;
    const int32_t out = builder.new_rows(node.outputs[0], 1);
    const Planes target = *builder.slot(out).planes;
    return builder.add({.what = to_string(node),
                        .reads = {in},
                        .writes = {out},
                        .run =
                            [=](const Memory& memory, int64_t part, int64_t parts) {
                              const Range range = share(source.channels, part, parts);
                              copy_lines(source, lines_of(source, memory.floats(in)),
                                         lines_of(target, memory.floats(out)), range.begin, range.end);
                            },
                        .work = target.floats()});
  }
  if (keeps_tokens(builder, node)) {
    const int32_t in = builder.rows(node.inputs[0], builder.last_axis(node.inputs[0]));
    return builder.same_rows(node.outputs[0], builder.last_axis(node.outputs[0]), in);
  }
  if (node.op == "Concat") {
    std::vector<int32_t> in;
    for (const int32_t value : node.inputs) in.push_back(builder.rows(value, 1));
    const int32_t out = builder.new_rows(node.outputs[0], 1);
    int64_t first = 0;
    bool bordered = true;
    for (size_t i = 0; i < in.size(); ++i) {
      const int64_t channels = builder.spec(node.inputs[i]).dims[1];
      add_copy(builder, to_string(node), in[i], out, counted_from(0, channels), first);
      first += channels;
      bordered = bordered && builder.slot(in[i]).bordered;
    }
    return builder.set_bordered(out, bordered);
  }
  const int32_t in = builder.rows(node.inputs[0], 1);
  if (const int32_t end = shuffle_end(builder, node, groups); end != kNone) {
    const Node& back = builder.graph().nodes[static_cast<size_t>(end)];
    const int32_t transpose = builder.only_reader(node.outputs[0]);
    builder.done[static_cast<size_t>(transpose)] = builder.done[static_cast<size_t>(end)] = true;
    const int64_t channels = builder.spec(node.inputs[0]).dims[1];
    std::vector<int64_t> from;
    for (int64_t i = 0; i < channels; ++i) from.push_back(i % groups * (channels / groups) + i / groups);
    const int32_t out = builder.new_rows(back.outputs[0], 1);
    add_copy(builder, "shuffle " + to_string(node), in, out, from, 0);
    return builder.set_bordered(out, builder.slot(in).bordered);
  }
  const std::vector<int64_t> first = cuts(builder, node);
  for (size_t i = 0; i < first.size(); ++i) {
    const int32_t out = builder.new_rows(node.outputs[i], 1);
    add_copy(builder, to_string(node), in, out, counted_from(first[i], builder.spec(node.outputs[i]).dims[1]),
             0);
    builder.set_bordered(out, builder.slot(in).bordered);
  }
}

}  // namespace hewn::flow
