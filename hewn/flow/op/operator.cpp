#include "hewn/flow/op/operator.h"

#include <algorithm>

namespace hewn::flow {

const std::vector<const Operator*>& operators() {
  static const std::vector<const Operator*> kAll = {
#define HEWN_FLOW_OP(name) &op::k##name,
#include "hewn/flow/op/ops.def"
#undef HEWN_FLOW_OP
  };
  return kAll;
}

const Operator* find_operator(std::string_view name) {
  const auto& all = operators();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Operator* one) { return one->name == name; });
  return found == all.end() ? nullptr : *found;
}

const View& Call::at(size_t input) const {
  if (!has(input)) throw bad(str("input ", input, " is missing"));
  return *in[input];
}

void Call::expect(size_t input, Type wanted_type) const {
  if (type(input) != wanted_type) {
    throw bad(str("input ", input, " is of ", name_of(type(input)), ", not of ", name_of(wanted_type)));
  }
}

void Call::expect_number(size_t input) const {
  if (type(input) == Type::kBool) throw bad(str("input ", input, " is of bool, not of numbers"));
}

void Call::expect_one(size_t input) const {
  if (spec(input).elements() != 1) throw bad(str("input ", input, " is not one number"));
}

int64_t from_front(const Call& call, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) throw call.bad(str("there is no axis ", axis, " among ", rank));
  return axis < 0 ? axis + rank : axis;
}

Steps from_front(const Call& call, Steps axes, int64_t rank) {
  Steps seen(static_cast<size_t>(rank), 0);
  for (int64_t& axis : axes) {
    axis = from_front(call, axis, rank);
    if (seen[static_cast<size_t>(axis)]++ > 0) throw call.bad(str("axis ", axis, " is there twice"));
  }
  return axes;
}

std::optional<std::vector<int64_t>> list_of(const Call& call, const std::string& name, size_t input) {
  if (call.has(input)) return call.list(input);
  if (call.node->has(name)) return call.node->integers(name);
  return std::nullopt;
}

std::vector<Spec> same_as_first(const Call& call) { return {call.spec(0)}; }

std::vector<Spec> same_floats(const Call& call) {
  call.expect(0, Type::kFloat);
  return {call.spec(0)};
}

std::vector<Spec> same_numbers(const Call& call) {
  call.expect_number(0);
  return {call.spec(0)};
}

int64_t count(const Dims& dims, int64_t first, int64_t last) {
  return count(std::span(dims).subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)));
}

Dims broadcast(const Call& call, const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto of = [&](const Dims& dims) {
      return i < out.size() - dims.size() ? 1 : dims[i - (out.size() - dims.size())];
    };
    const int64_t x = of(a);
    const int64_t y = of(b);
    if (x != y && x != 1 && y != 1) {
      throw call.bad(str("shapes ", to_string(a), " and ", to_string(b), " do not fit together"));
    }
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Steps strides_of(const Dims& dims) {
  Steps strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

Steps strides_in(const Dims& from, const Dims& to) {
  const Steps own = strides_of(from);
  Steps strides(to.size());
  const size_t skip = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) strides[skip + d] = from[d] == 1 ? 0 : own[d];
  return strides;
}

}  // namespace hewn::flow
