// Everything else: row-major, by the operator itself; products and softmax by faster kernels.
#include <memory>

#include "hewn/flow/builder.h"
#include "hewn/flow/op/operator.h"
#include "hewn/kernels/planes/matrices.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::flow {
namespace {

/// Both sides have the same outer dimensions, or there is one matrix on the right.
bool multiplies_matrices(const Builder& builder, const Node& node) {
  if (node.op != "MatMul" || builder.spec(node.outputs[0]).type != Type::kFloat) return false;
  const Dims& a = builder.spec(node.inputs[0]).dims;
  const Dims& b = builder.spec(node.inputs[1]).dims;
  if (a.size() < 2 || b.size() < 2) return false;
  const bool same = a.size() == b.size() && std::equal(a.begin(), a.end() - 2, b.begin());
  return same && builder.spec(node.outputs[0]).elements() > 0 && a.back() > 0;
}

void add_matrices(Builder& builder, const Node& node) {
  const int32_t a = builder.plain(node.inputs[0]);
  const int32_t b = builder.plain(node.inputs[1]);
  const int32_t c = builder.new_plain(node.outputs[0]);
  const Dims& left = builder.spec(node.inputs[0]).dims;
  const Dims& right = builder.spec(node.inputs[1]).dims;
  const kernels::MatrixProduct product{left[left.size() - 2], left.back(), right.back()};
  const int64_t matrices = builder.spec(node.inputs[0]).elements() / (product.rows * product.inner);
  builder.add({.what = to_string(node),
               .reads = {a, b},
               .writes = {c},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const auto run = [&](int64_t m, int64_t begin, int64_t end) {
                       kernels::MatrixProduct here = product;
                       here.a = memory.floats(a) + m * product.rows * product.inner;
                       here.b = memory.floats(b) + m * product.inner * product.columns;
                       here.c = memory.floats(c) + m * product.rows * product.columns;
                       kernels::multiply_matrices(here, begin, end);
                     };
                     if (matrices >= parts) {
                       const Range range = share(matrices, part, parts);
                       for (int64_t m = range.begin; m < range.end; ++m) run(m, 0, product.rows);
                     } else {
                       const Range range = share(product.rows, part, parts);
                       for (int64_t m = 0; m < matrices; ++m) run(m, range.begin, range.end);
                     }
                   },
               .work = matrices * product.rows * product.inner * product.columns});
}

bool is_softmax_of_rows(const Builder& builder, const Node& node) {
  if (node.op != "Softmax" || builder.rank(node.inputs[0]) < 1) return false;
  const int64_t axis = node.integer("axis", node.opset < 13 ? 1 : -1);
  return axis == -1 || axis == builder.last_axis(node.inputs[0]);
}

void add_softmax(Builder& builder, const Node& node) {
  const int32_t in = builder.plain(node.inputs[0]);
  const int32_t out = builder.new_plain(node.outputs[0]);
  const int64_t width = builder.spec(node.inputs[0]).dims.back();
  const int64_t rows = width == 0 ? 0 : builder.spec(node.inputs[0]).elements() / width;
  builder.add({.what = to_string(node),
               .reads = {in},
               .writes = {out},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Range range = share(rows, part, parts);
                     for (int64_t row = range.begin; row < range.end; ++row) {
                       kernels::softmax(memory.floats(in) + row * width, memory.floats(out) + row * width,
                                        width);
                     }
                   },
               .work = 8 * rows * width});
}

/// Values that the operator gives another shape only.
bool only_reshapes(const Node& node) {
  return node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze" ||
         node.op == "Identity";
}

/// What an operator is called with: made once, its pointers set when it runs.
struct PlainCall {
  Node node;
  std::vector<View> views;
  Call call;
  std::vector<int32_t> in;
  std::vector<int32_t> out;

  PlainCall() = default;
  PlainCall(const PlainCall& other)
      : node(other.node), views(other.views), call(other.call), in(other.in), out(other.out) {
    point_at_own();
  }
  PlainCall& operator=(const PlainCall&) = delete;
  ~PlainCall() = default;

  void point_at_own() {
    call.node = &node;
    for (size_t i = 0; i < in.size(); ++i) call.in[i] = in[i] == kNone ? nullptr : &views[i];
  }

  void run(const Operator& op, const Memory& memory) {
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] != kNone) views[i].data = memory.at(in[i]);
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] != kNone) call.out[i].data = memory.at(out[i]);
    }
    op.run(call);
  }
};

/// One for each place.
class PlainCalls {
 public:
  explicit PlainCalls(const PlainCall& first) : first_(first) {}

  void prepare(size_t places) {
    while (calls_.size() < places) calls_.push_back(std::make_unique<PlainCall>(first_));
  }
  PlainCall& at(size_t place) { return *calls_[place]; }

 private:
  const PlainCall first_;
  std::vector<std::unique_ptr<PlainCall>> calls_;
};

void add_operator(Builder& builder, const Node& node) {
  PlainCall plain;
  plain.node = node;
  plain.views.resize(node.inputs.size());
  plain.call.in.resize(node.inputs.size());
  Step step{.what = to_string(node), .reads = {}, .writes = {}, .run = {}, .divides = false};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int32_t value = node.inputs[i];
    plain.in.push_back(value == kNone ? kNone : builder.plain(value));
    if (value == kNone) continue;
    plain.views[i].spec = builder.spec(value);
    step.reads.push_back(plain.in.back());
  }
  for (const int32_t value : node.outputs) {
    const bool wanted = value != kNone;
    plain.out.push_back(wanted ? builder.new_plain(value) : kNone);
    plain.call.out.push_back({wanted ? builder.spec(value) : Spec{}, nullptr});
    if (wanted) step.writes.push_back(plain.out.back());
    if (wanted) step.work += builder.spec(value).elements();
  }
  const Operator* op = find_operator(node.op);
  const auto calls = std::make_shared<PlainCalls>(plain);
  step.run = [calls, op](const Memory& memory, int64_t, int64_t) {
    calls->at(memory.place()).run(*op, memory);
  };
  step.prepare = [calls](size_t places) { calls->prepare(places); };
  builder.add(std::move(step));
}

}  // namespace

void lower_plain(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  if (multiplies_matrices(builder, node)) return add_matrices(builder, node);
  if (is_softmax_of_rows(builder, node)) return add_softmax(builder, node);
  if (only_reshapes(node)) return builder.same_plain(node.outputs[0], builder.plain(node.inputs[0]));
  add_operator(builder, node);
}

}  // namespace hewn::flow
