#include "hewn/flow/op/index/index.h"

#include "hewn/flow/op/numbers.h"

namespace hewn::flow {

Joining joining_of(const Call& call) {
  const std::string way = call.node->text("reduction", "none");
  if (way == "none") return Joining::kReplace;
  if (call.type(0) == Type::kBool) throw call.bad("cannot join bools");
  if (way == "add") return Joining::kAdd;
  if (way == "mul") return Joining::kMultiply;
  if (way == "max") return Joining::kMax;
  if (way == "min") return Joining::kMin;
  throw call.bad("reduction is none of none, add, mul, max, min");
}

template <class T>
T joined(Joining way, T old, T update) {
  switch (way) {
    case Joining::kReplace:
      return update;
    case Joining::kAdd:
      return plus(old, update);
    case Joining::kMultiply:
      return times(old, update);
    case Joining::kMax:
      return larger(old, update);
    case Joining::kMin:
      return smaller(old, update);
  }
  return update;
}
template float joined(Joining way, float old, float update);
template int64_t joined(Joining way, int64_t old, int64_t update);

template <>
bool joined(Joining, bool, bool update) {
  return update;
}

Tuples::Tuples(const Call& call, const Dims& dims, size_t first, size_t input)
    : call_(call), indices_(call.values<int64_t>(input)) {
  const auto size = static_cast<size_t>(call.dims(input).back());
  const std::vector<int64_t> strides = strides_of(dims);
  const auto begin = static_cast<std::ptrdiff_t>(first);
  const auto end = static_cast<std::ptrdiff_t>(first + size);
  dims_.assign(dims.begin() + begin, dims.begin() + end);
  strides_.assign(strides.begin() + begin, strides.begin() + end);
  slice_ = count(dims, end, static_cast<int64_t>(dims.size()));
}

int64_t Tuples::offset(int64_t tuple) const {
  int64_t offset = 0;
  const size_t begin = static_cast<size_t>(tuple) * dims_.size();
  for (size_t d = 0; d < dims_.size(); ++d) {
    offset += checked_index(call_, indices_[begin + d], dims_[d]) * strides_[d];
  }
  return offset;
}

}  // namespace hewn::flow
