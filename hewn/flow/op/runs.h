#pragma once

#include <array>
#include <vector>

#include "hewn/flow/op/operator.h"

namespace hewn::flow {

/// Calls body(at, offset, length, step) for runs of indices of `dims`, row-major: `at` is the number of the
/// first, `offset` says where the run begins in each of the tensors that `strides` belong to, and `step` how
/// far apart its elements are there. Dimensions that follow one another evenly in all of them become one, so
/// that runs are long.
template <size_t kTensors, class Body>
void each_run(std::span<const int64_t> dims, const std::array<Steps, kTensors>& strides, const Body& body) {
  if (count(dims) == 0) return;
  Steps outer;
  std::array<Steps, kTensors> steps;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    bool joins = !outer.empty();
    for (size_t t = 0; t < kTensors && joins; ++t) joins = steps[t].back() == strides[t][d] * dims[d];
    if (!joins) outer.push_back(1);
    outer.back() *= dims[d];
    for (size_t t = 0; t < kTensors; ++t) {
      if (!joins) steps[t].push_back(0);
      steps[t].back() = strides[t][d];
    }
  }
  std::array<int64_t, kTensors> step{};
  int64_t length = 1;
  if (!outer.empty()) {
    length = outer.back();
    outer.pop_back();
    for (size_t t = 0; t < kTensors; ++t) {
      step[t] = steps[t].back();
      steps[t].pop_back();
    }
  }
  each_index(std::span<const int64_t>(outer.begin(), outer.size()), steps,
             [&](int64_t i, const auto& offset) { body(i * length, offset, length, step); });
}

/// Elements in memory, and how far apart they are in each dimension.
struct Place {
  void* data;
  Steps strides;  // in elements; may be 0 or negative
};

/// Copies a tensor of `dims` with elements of `type` from one place to another.
void copy(Type type, const Dims& dims, const Place& from, const Place& to);
/// All bytes of the first input to the first output, as they lie.
void copy_first(const Call& call);

}  // namespace hewn::flow
