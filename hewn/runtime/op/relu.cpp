#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {

const Operator& relu() {
  static constexpr Operator kRelu = {.name = "relu"};
  return kRelu;
}

}  // namespace hewn::runtime
