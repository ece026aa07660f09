#include "hewn/flow/op/runs.h"

#include <cstring>

#include "hewn/kernels/tile.h"

namespace hewn::flow {
namespace {

/// Whether what lies side by side on one side are the rows of the other: matrices to turn.
bool turns_matrices(const Dims& dims, const Place& from, const Place& to) {
  const size_t rank = dims.size();
  return rank >= 2 && from.strides[rank - 2] == 1 && to.strides[rank - 1] == 1 && dims[rank - 1] >= 8 &&
         dims[rank - 2] >= 8;
}

/// Eight of their rows at a time: one column after the other would come back to each cache line too late.
void turn_matrices(const Dims& dims, const Place& from, const Place& to) {
  const size_t outer = dims.size() - 2;
  const int64_t rows = dims[outer + 1];  // of what is read
  const int64_t columns = dims[outer];
  const int64_t in_step = from.strides[outer + 1];
  const int64_t out_step = to.strides[outer];
  each_index<2>(std::span(dims).first(outer),
                {Steps(from.strides.begin(), from.strides.begin() + outer),
                 Steps(to.strides.begin(), to.strides.begin() + outer)},
                [&](int64_t, const auto& offset) {
                  const float* source = static_cast<const float*>(from.data) + offset[0];
                  float* target = static_cast<float*>(to.data) + offset[1];
                  int64_t row = 0;
                  for (; row + 8 <= rows; row += 8) {
                    kernels::machine().pack_eight(source + row * in_step, in_step, target + row, out_step,
                                                  columns);
                  }
                  for (; row < rows; ++row) {
                    for (int64_t c = 0; c < columns; ++c)
                      target[c * out_step + row] = source[row * in_step + c];
                  }
                });
}

template <class T>
void copy_of(const Dims& dims, const Place& from, const Place& to) {
  each_run<2>(dims, {from.strides, to.strides},
              [&](int64_t, const auto& offset, int64_t length, const auto& step) {
                const T* source = static_cast<const T*>(from.data) + offset[0];
                T* target = static_cast<T*>(to.data) + offset[1];
                if (step[0] == 1 && step[1] == 1) {
                  std::memcpy(target, source, static_cast<size_t>(length) * sizeof(T));
                  return;
                }
                for (int64_t i = 0; i < length; ++i) target[i * step[1]] = source[i * step[0]];
              });
}

}  // namespace

void copy(Type type, const Dims& dims, const Place& from, const Place& to) {
  if (type == Type::kFloat && turns_matrices(dims, from, to)) return turn_matrices(dims, from, to);
  with_type(type, [&](auto element) { copy_of<decltype(element)>(dims, from, to); });
}

void copy_first(const Call& call) {
  const size_t bytes = static_cast<size_t>(call.spec(0).elements()) * size_of(call.type(0));
  if (bytes > 0) std::memcpy(call.out.at(0).data, call.at(0).data, bytes);
}

}  // namespace hewn::flow
