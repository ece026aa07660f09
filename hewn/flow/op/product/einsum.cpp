#include <algorithm>
#include <map>

#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/operator.h"
#include "hewn/flow/op/product/equation.h"

namespace hewn::flow {
namespace {

/// All dimensions that there are, those of the output first, and how each input walks along them.
struct Walk {
  Dims dims;
  size_t output = 0;  // so many of them are the output's
  std::vector<Steps> strides;
};

// Dimensions under "..." are numbered from the last one on: 0, 1, ...; letters are themselves.
using Label = int;

std::vector<Label> labels_of(const Equation::Term& term, size_t open_dims) {
  std::vector<Label> out(term.before.begin(), term.before.end());
  for (size_t d = open_dims; term.open && d-- > 0;) out.push_back(static_cast<Label>(d));
  out.insert(out.end(), term.behind.begin(), term.behind.end());
  return out;
}

/// The labels of each input.
std::vector<std::vector<Label>> labels_of(const Call& call, const Equation& equation) {
  if (equation.inputs.size() != call.in.size()) {
    throw call.bad(
        str("the equation has ", equation.inputs.size(), " terms for ", call.in.size(), " inputs"));
  }
  std::vector<std::vector<Label>> out;
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Equation::Term& term = equation.inputs[i];
    const size_t letters = term.letters().size();
    const size_t rank = call.dims(i).size();
    // Open dimensions have the labels below the letters of ASCII.
    if (term.open ? rank < letters || rank - letters >= 'A' : rank != letters)
      throw call.bad(str("input ", i, " has ", rank, " dimensions, its term ", letters, " letters"));
    out.push_back(labels_of(term, rank - letters));
  }
  return out;
}

Walk walk_of(const Call& call) {
  Equation equation;
  try {
    equation = read_equation(call.node->text("equation", ""));
  } catch (const Error& error) {
    throw call.bad(error.what());
  }
  const auto labels = labels_of(call, equation);
  std::map<Label, int64_t> size;
  size_t open_dims = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t d = 0; d < labels[i].size(); ++d) {
      int64_t& known = size.try_emplace(labels[i][d], 1).first->second;
      const int64_t dim = call.dims(i)[d];
      if (known != dim && known != 1 && dim != 1)
        throw call.bad(str("a dimension is ", known, " in one place and ", dim, " in another"));
      if (dim != 1) known = dim;
      if (labels[i][d] < 'A') open_dims = std::max(open_dims, static_cast<size_t>(labels[i][d]) + 1);
    }
  }
  std::vector<Label> order = labels_of(equation.output, open_dims);
  Walk out;
  out.output = order.size();
  for (const auto& [label, dim] : size) {
    if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
  }
  for (const Label label : order) out.dims.push_back(size.at(label));
  for (size_t i = 0; i < labels.size(); ++i) {
    Steps strides(order.size());
    const Steps own = strides_of(call.dims(i));
    for (size_t d = 0; d < labels[i].size(); ++d) {
      const auto at = std::find(order.begin(), order.end(), labels[i][d]) - order.begin();
      // A letter that is there twice walks along the diagonal; a dimension of one is stretched.
      if (call.dims(i)[d] != 1) strides[static_cast<size_t>(at)] += own[d];
    }
    out.strides.push_back(strides);
  }
  return out;
}

/// How many products are summed in all.
int64_t products_of(const Call& call, const Walk& walk) {
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t all = 1;
  for (const int64_t dim : walk.dims) {
    if (dim == 0) return 0;
    if (all > kMost / dim) throw call.bad("too many products");
    all *= dim;
  }
  return all;
}

std::vector<Spec> infer_einsum(const Call& call) {
  call.expect_number(0);
  for (size_t i = 1; i < call.in.size(); ++i) call.expect(i, call.type(0));
  const Walk walk = walk_of(call);
  products_of(call, walk);
  return {{call.type(0), {walk.dims.begin(), walk.dims.begin() + static_cast<int64_t>(walk.output)}}};
}

template <class T>
void einsum_of(const Call& call) {
  using Number = Wrapping<T>;
  const Walk walk = walk_of(call);
  const auto result = call.result<T>(0);
  std::ranges::fill(result, T{});
  auto* out = reinterpret_cast<Number*>(result.data());
  std::vector<const Number*> from;
  for (size_t i = 0; i < call.in.size(); ++i)
    from.push_back(reinterpret_cast<const Number*>(call.values<T>(i).data()));
  const int64_t total = products_of(call, walk);
  if (total == 0) return;
  const std::span<const int64_t> outer(walk.dims.data(), walk.output);
  const int64_t terms = total / std::max<int64_t>(1, count(outer));
  Steps index(walk.dims.size());
  for (int64_t i = 0; i < total; ++i) {
    Number product = 1;
    for (const Number* number : from) product *= *number;
    out[i / terms] += product;
    for (size_t d = walk.dims.size(); d-- > 0;) {
      for (size_t t = 0; t < from.size(); ++t) from[t] += walk.strides[t][d];
      if (++index[d] < walk.dims[d]) break;
      for (size_t t = 0; t < from.size(); ++t) from[t] -= walk.strides[t][d] * walk.dims[d];
      index[d] = 0;
    }
  }
}

void run_einsum(const Call& call) {
  call.type(0) == Type::kFloat ? einsum_of<float>(call) : einsum_of<int64_t>(call);
}

}  // namespace

constinit const Operator op::kEinsum = {
    .name = "Einsum", .most_inputs = kAnyNumber, .infer = infer_einsum, .run = run_einsum};

}  // namespace hewn::flow
