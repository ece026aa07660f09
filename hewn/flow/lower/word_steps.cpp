#include "hewn/flow/lower/word_steps.h"

namespace hewn::flow {

WordTail word_tail(Builder& builder, int32_t number, int64_t axis) {
  const auto node = [&](int32_t i) -> const Node& { return builder.graph().nodes[static_cast<size_t>(i)]; };
  const auto relu_behind = [&](int32_t value) {
    const int32_t next = builder.only_reader(value);
    return next != kNone && node(next).op == "Relu" ? next : kNone;
  };
  WordTail out{node(number).outputs[0], kNone, kNone, false};
  const int32_t next = builder.only_reader(out.value);
  if (next != kNone && node(next).op == "Add") {
    const auto& sides = node(next).inputs;
    const int32_t other = sides[0] == out.value ? sides[1] : sides[0];
    const int32_t sum = node(next).outputs[0];
    const int32_t relu = relu_behind(sum);
    const int32_t last = relu == kNone ? sum : node(relu).outputs[0];
    if (other != out.value && builder.in_words(other, axis) && builder.held_alike(other, last) &&
        builder.spec(other) == builder.spec(out.value) &&
        builder.planes(other, axis) == builder.planes(out.value, axis)) {
      out.add = builder.words(other, axis);
      out.added = other;
      out.value = sum;
      builder.done[static_cast<size_t>(next)] = true;
    }
  }
  if (const int32_t relu = relu_behind(out.value); relu != kNone) {
    out.relu = true;
    out.value = node(relu).outputs[0];
    builder.done[static_cast<size_t>(relu)] = true;
  }
  return out;
}

int32_t add_word_sorting(Builder& builder, const Node& node, const ConvShape& shape, const Planes& sorted,
                         const SortedTaps& taps) {
  const int32_t from = builder.words(node.inputs[0], 1);
  const Planes in = builder.word_planes(node.inputs[0], 1);
  const uint32_t between = builder.blank_word(node.inputs[0]);
  const int32_t to = builder.scratch(static_cast<size_t>(sorted.floats() + 64) * sizeof(uint32_t));
  const auto phases = taps.phases;
  builder.add({.what = "sort " + to_string(node),
               .reads = {from},
               .writes = {to},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const auto* base = static_cast<const uint32_t*>(memory.at(from)) + in.lead;
                     auto* out = static_cast<uint32_t*>(memory.at(to));
                     const SortShape sort{shape.window, in, sorted, in.plane, in.line};
                     const Range range = share(sorted.channels, part, parts);
                     for (int64_t c = range.begin; c < range.end; ++c) {
                       sort_channel(sort, phases[static_cast<size_t>(c / in.channels)],
                                    base + c % in.channels * in.stride, out + c * sorted.stride, between);
                     }
                   },
               .work = sorted.floats()});
  return to;
}

WordWindow word_window(Builder& builder, const Node& node, const ConvShape& shape) {
  const Planes in = builder.word_planes(node.inputs[0], 1);
  WordWindow out{.in = kNone, .read = in, .taps = {}};
  if (!shape.strided()) {
    out.in = builder.words(node.inputs[0], 1, shape.reach() > 0);
    out.taps = plain_taps(shape, in);
    return out;
  }
  out.read = sorted_planes(shape, in, builder.planes(node.outputs[0], 1));
  SortedTaps sorted = sorted_taps(shape, out.read, in.channels);
  out.read.channels *= static_cast<int64_t>(sorted.phases.size());
  out.in = add_word_sorting(builder, node, shape, out.read, sorted);
  out.taps = std::move(sorted.offsets);
  return out;
}

}  // namespace hewn::flow
