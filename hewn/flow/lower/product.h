#pragma once

#include <memory>
#include <vector>

#include "hewn/flow/builder.h"
#include "hewn/flow/lower/conv_shape.h"
#include "hewn/kernels/planes/planes.h"

namespace hewn::flow {

/// A product whose memory is not known yet.
struct ProductPlan {
  kernels::PlaneProduct product;
  int64_t columns = 0;
  int64_t in_lead = 0;
  int64_t out_lead = 0;

  ProductPlan at(const Memory& memory, int32_t in, int32_t out, int32_t add) const {
    ProductPlan here = *this;
    here.product.in = memory.floats(in) + in_lead;
    here.product.out = memory.floats(out) + out_lead;
    if (add != kNone) here.product.add = memory.floats(add) + out_lead;
    return here;
  }
};

struct ProductOf {
  std::shared_ptr<const Weight> weight;
  std::vector<int64_t> taps;
  int32_t in;
  int32_t out;
  int32_t add;
  std::vector<Strip> strips = {};  // none: every tap is needed everywhere
};

/// A product with a constant matrix: MatMul, or Gemm as linear layers write it.
struct LinearShape {
  WeightKind kind = WeightKind::kInOut;
  int32_t bias = kNone;
};
bool linear_shape(const Builder& builder, const Node& node, LinearShape& shape);
/// The bias that a constant vector behind a MatMul adds, or kNone; the node that adds it is then done.
int32_t bias_behind(Builder& builder, int32_t value, int32_t& made);

/// Completes the step of a product with a packed weight and adds it.
void add_products(Builder& builder, Step step, const ProductPlan& plan, const ProductOf& what);

}  // namespace hewn::flow
