#pragma once

#include <memory>
#include <vector>

#include "hewn/flow/builder.h"
#include "hewn/kernels/planes.h"

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
};

/// Completes the step of a product with a packed weight and adds it.
void add_products(Builder& builder, Step step, const ProductPlan& plan, const ProductOf& what);

}  // namespace hewn::flow
