#pragma once

#include "hewn/flow/op/operator.h"

namespace hewn::flow {

/// An index from data, counted from the front; throws where it is not one of `size`.
inline int64_t checked_index(const Call& call, int64_t index, int64_t size) {
  if (index < -size || index >= size) throw call.bad(str("there is no index ", index, " among ", size));
  return index < 0 ? index + size : index;
}

/// What scattering does to an element: the second takes the place of the first, or joins it.
enum class Joining { kReplace, kAdd, kMultiply, kMax, kMin };
Joining joining_of(const Call& call);
template <class T>
T joined(Joining way, T old, T update);
template <>
bool joined(Joining way, bool old, bool update);

/// Offsets of slices that tuples of indices (the last dimension of `indices`) name in dimensions of `dims`
/// that begin at `first`.
class Tuples {
 public:
  Tuples(const Call& call, const Dims& dims, size_t first, size_t input);

  /// Of the tuple with this number.
  int64_t offset(int64_t tuple) const;
  /// Elements in one slice.
  int64_t slice() const { return slice_; }

 private:
  const Call& call_;
  Dims dims_;
  std::vector<int64_t> strides_;
  std::span<const int64_t> indices_;
  int64_t slice_ = 1;
};

}  // namespace hewn::flow
