// Finds attention in a graph, so that it becomes one step: from the softmax up to the scores, from both
// products to where their numbers come from, and down to where the result goes.
#include <algorithm>

#include "hewn/flow/lower/attention.h"
#include "hewn/flow/lower/product.h"

namespace hewn::flow {
namespace {

const Node& node_at(const Builder& builder, int32_t number) {
  return builder.graph().nodes[static_cast<size_t>(number)];
}

/// A product of matrices, pair by pair.
bool multiplies_pairs(const Builder& builder, const Node& node) {
  if (node.op != "MatMul" || builder.spec(node.outputs[0]).type != Type::kFloat) return false;
  const Dims& a = builder.spec(node.inputs[0]).dims;
  const Dims& b = builder.spec(node.inputs[1]).dims;
  return a.size() >= 2 && a.size() == b.size() && std::equal(a.begin(), a.end() - 2, b.begin()) &&
         builder.spec(node.outputs[0]).elements() > 0 && a.back() > 0;
}

bool stretches_to(const Dims& from, const Dims& to) {
  if (from.size() > to.size()) return false;
  const size_t skip = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1 && from[d] != to[d + skip]) return false;
  }
  return true;
}

/// From what the softmax reads up to the product of queries and keys, which is returned, or kNone.
int32_t climb(const Builder& builder, int32_t value, FoundAttention& found) {
  const int32_t maker = builder.maker(value);
  if (maker == kNone || builder.uses(value) != 1) return kNone;
  const Node& node = node_at(builder, maker);
  const Dims& dims = builder.spec(value).dims;
  if (node.op == "MatMul") return multiplies_pairs(builder, node) ? maker : kNone;
  int32_t input = kNone;
  if (const auto factor = factor_of(builder, node, input)) {
    const int32_t product = climb(builder, input, found);
    // Masks further up would be scaled as well.
    if (!found.masks.empty()) return kNone;
    found.scale *= *factor;
    return product;
  }
  const auto masked = [&](int32_t scores, const MaskOfScores& mask) {
    FoundAttention further = found;
    if (builder.spec(scores).dims != dims || !stretches_to(builder.spec(mask.value).dims, dims)) return kNone;
    const int32_t product = climb(builder, scores, further);
    if (product == kNone) return kNone;
    found = further;
    found.masks.push_back(mask);
    return product;
  };
  if (node.op == "Add" && node.inputs.size() == 2) {
    const int32_t product = masked(node.inputs[0], {node.inputs[1]});
    return product != kNone ? product : masked(node.inputs[1], {node.inputs[0]});
  }
  if (node.op != "Where") return kNone;
  for (const size_t side : {size_t{1}, size_t{2}}) {
    const Tensor* instead = builder.constant(node.inputs[3 - side]);
    if (instead == nullptr || instead->type() != Type::kFloat || instead->elements() != 1) continue;
    return masked(node.inputs[side], {node.inputs[0], side == 1, instead->values<float>()[0]});
  }
  return kNone;
}

/// Tokens and features lie evenly, as the kernel walks them.
bool even(const AxisView& view) {
  const size_t rank = view.dims.size();
  return view.dims[rank - 1].size() <= 1 && view.dims[rank - 2].size() <= 1;
}

AxisView matrices(const Builder& builder, int32_t value, float* scale) {
  float further = 1;
  AxisView view = view_up(builder, value, scale == nullptr ? nullptr : &further);
  if (!even(view)) return view_of_itself(builder, value);
  if (scale != nullptr) *scale *= further;
  return view;
}

/// Each of the last two axes of the product is walked by one factor.
bool even_below(const AxisView& view, int64_t rank) {
  int64_t tokens = 0;
  int64_t features = 0;
  for (const auto& dim : view.dims) {
    for (const Factor& factor : dim) {
      tokens += factor.axis == rank - 2 ? 1 : 0;
      features += factor.axis == rank - 1 ? 1 : 0;
    }
  }
  return tokens <= 1 && features <= 1;
}

void follow_down(const Builder& builder, FoundAttention& found) {
  const int64_t rank = builder.rank(found.out);
  for (int32_t next = builder.only_reader(found.out); next != kNone; next = builder.only_reader(found.out)) {
    const Node& node = node_at(builder, next);
    if (node.op == "Slice" || node.op == "Split" || node.op == "Gather" || node.inputs[0] != found.out)
      return;
    auto view = view_through(builder, node, node.outputs[0], found.out_view);
    if (!view || !even_below(*view, rank)) return;
    found.out = node.outputs[0];
    found.out_view = std::move(*view);
  }
}

bool match(const Builder& builder, int32_t softmax, FoundAttention& found) {
  const Node& node = node_at(builder, softmax);
  const int64_t axis = node.integer("axis", node.opset < 13 ? 1 : -1);
  if (axis != -1 && axis != builder.last_axis(node.inputs[0])) return false;
  found.softmax = softmax;
  found.product = builder.only_reader(node.outputs[0]);
  if (found.product == kNone) return false;
  const Node& last = node_at(builder, found.product);
  if (last.inputs[0] != node.outputs[0] || !multiplies_pairs(builder, last)) return false;
  const int32_t scores = climb(builder, node.inputs[0], found);
  if (scores == kNone) return false;
  found.q = matrices(builder, node_at(builder, scores).inputs[0], &found.scale);
  found.k = matrices(builder, node_at(builder, scores).inputs[1], &found.scale);
  found.v = matrices(builder, last.inputs[1], nullptr);
  found.out = last.outputs[0];
  found.out_view = view_of_itself(builder, found.out);
  follow_down(builder, found);
  return true;
}

/// Nodes whose outputs are read, where attention reads the sources of its views.
std::vector<bool> needed_nodes(const Builder& builder,
                               const std::map<int32_t, const FoundAttention*>& makes) {
  std::vector<bool> needed(builder.graph().nodes.size(), false);
  std::vector<int32_t> open;
  for (const Port& port : builder.graph().outputs) open.push_back(port.value);
  while (!open.empty()) {
    const int32_t value = open.back();
    open.pop_back();
    int32_t maker = value == kNone ? kNone : builder.maker(value);
    const auto made = makes.find(value);
    if (made != makes.end()) maker = made->second->product;
    if (maker == kNone || needed[static_cast<size_t>(maker)]) continue;
    needed[static_cast<size_t>(maker)] = true;
    if (made == makes.end()) {
      const auto& inputs = node_at(builder, maker).inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
      continue;
    }
    const FoundAttention& found = *made->second;
    open.insert(open.end(), {found.q.source, found.k.source, found.v.source});
    for (const MaskOfScores& mask : found.masks) open.push_back(mask.value);
  }
  return needed;
}

}  // namespace

void find_attention(Builder& builder) {
  std::map<int32_t, const FoundAttention*> makes;
  for (size_t i = 0; i < builder.graph().nodes.size(); ++i) {
    if (builder.graph().nodes[i].op != "Softmax") continue;
    auto found = std::make_shared<FoundAttention>();
    if (!match(builder, static_cast<int32_t>(i), *found)) continue;
    makes[found->out] = found.get();
    builder.attention[found->product] = found;
    // Products read planes.
    const int32_t reader = builder.last_reader(found->out);
    LinearShape shape;
    if (reader != kNone && linear_shape(builder, node_at(builder, reader), shape))
      builder.mark(found->out, builder.last_axis(found->out));
  }
  if (makes.empty()) return;
  const std::vector<bool> needed = needed_nodes(builder, makes);
  for (size_t i = 0; i < needed.size(); ++i) builder.done[i] = !needed[i];
}

}  // namespace hewn::flow
