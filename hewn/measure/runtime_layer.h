#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "hewn/flow/network.h"
#include "hewn/kernels/packed.h"
#include "hewn/measure/interleave.h"
#include "hewn/measure/kept_weight.h"

namespace hewn::measure {

/// A layer without bias as the runtime runs it: on planes, as in the middle of a network, and with row-major
/// samples in and out. Copies share what they need.
class RuntimeLayer {
 public:
  /// Of a linear layer: batch x in. Of a convolution: batch x in x height x width, where the geometry counts.
  RuntimeLayer(const at::Tensor& x, const KeptWeight& kept, const kernels::ConvGeometry* geometry);

  /// Batch x out, or batch x out x height x width.
  at::Tensor run() const;
  Contender on_planes() const;
  Contender row_major() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hewn::measure
