#include <algorithm>
#include <numeric>

#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

/// What is added before and after each dimension; less than nothing cuts off.
struct Margins {
  std::vector<int64_t> before;
  std::vector<int64_t> after;
};

Margins margins_of(const Call& call) {
  const auto rank = static_cast<size_t>(call.rank(0));
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) axes = from_front(call, call.list(3), call.rank(0));
  const std::vector<int64_t> pads = call.list(1);
  if (pads.size() != 2 * axes.size())
    throw call.bad(str("has ", pads.size(), " pads for ", axes.size(), " axes"));
  Margins out = {std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    out.before[axis] = pads[i];
    out.after[axis] = pads[axes.size() + i];
    for (const int64_t pad : {out.before[axis], out.after[axis]}) {
      if (pad > kMostElements || pad < -kMostElements) throw call.bad(str("a pad of ", pad));
    }
  }
  return out;
}

std::vector<Spec> infer_pad(const Call& call) {
  const std::string mode = call.node->text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    throw call.bad("mode is none of constant, reflect, edge, wrap");
  }
  if (call.has(2)) {
    call.expect(2, call.type(0));
    call.expect_one(2);
  }
  const Margins margins = margins_of(call);
  Spec out = call.spec(0);
  for (size_t d = 0; d < out.dims.size(); ++d) {
    out.dims[d] += margins.before[d] + margins.after[d];
    if (out.dims[d] < 0) throw call.bad(str("dimension ", d, " has not as much as is cut off"));
  }
  if (mode != "constant" && call.spec(0).elements() == 0 && out.elements() > 0) {
    throw call.bad("there is nothing to repeat");
  }
  return {out};
}

template <class T>
void pad_constant(const Call& call, const Margins& margins) {
  const auto out = call.result<T>(0);
  const bool given = call.has(2);
  std::fill(out.begin(), out.end(), given ? call.values<T>(2)[0] : T{});
  const Steps from_strides = strides_of(call.dims(0));
  const Steps to_strides = strides_of(call.out[0].spec.dims);
  Dims kept = call.dims(0);
  int64_t from = 0;
  int64_t to = 0;
  for (size_t d = 0; d < kept.size(); ++d) {
    from += std::max<int64_t>(-margins.before[d], 0) * from_strides[d];
    to += std::max<int64_t>(margins.before[d], 0) * to_strides[d];
    kept[d] += std::min<int64_t>(margins.before[d], 0) + std::min<int64_t>(margins.after[d], 0);
    if (kept[d] <= 0) return;
  }
  copy(call.type(0), kept, {static_cast<T*>(call.at(0).data) + from, from_strides},
       {out.data() + to, to_strides});
}

/// Which index of a dimension of `size` stands at `at`, which may lie outside of it.
int64_t mirrored(char mode, int64_t at, int64_t size) {
  if (mode == 'e' || size == 1) return std::clamp<int64_t>(at, 0, size - 1);
  const int64_t period = mode == 'w' ? size : 2 * (size - 1);
  const int64_t rest = (at % period + period) % period;
  return rest < size ? rest : period - rest;
}

template <class T>
void pad_repeated(const Call& call, const Margins& margins) {
  const char mode = call.node->text("mode", "constant").front();
  const auto in = call.values<T>(0);
  const auto out = call.result<T>(0);
  const Dims& dims = call.out[0].spec.dims;
  const std::vector<int64_t> strides = strides_of(call.dims(0));
  std::vector<int64_t> index(dims.size(), 0);
  const auto step = [&](size_t d) {
    return mirrored(mode, index[d] - margins.before[d], call.dims(0)[d]) * strides[d];
  };
  for (T& to : out) {
    int64_t from = 0;
    for (size_t d = 0; d < dims.size(); ++d) from += step(d);
    to = in[static_cast<size_t>(from)];
    for (size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
  }
}

void run_pad(const Call& call) {
  const Margins margins = margins_of(call);
  const bool constant = call.node->text("mode", "constant") == "constant";
  with_type(call.type(0), [&](auto element) {
    using T = decltype(element);
    constant ? pad_constant<T>(call, margins) : pad_repeated<T>(call, margins);
  });
}

}  // namespace

constinit const Operator op::kPad = {
    .name = "Pad", .least_inputs = 2, .most_inputs = 4, .infer = infer_pad, .run = run_pad};

}  // namespace hewn::flow
