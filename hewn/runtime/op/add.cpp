#include "hewn/core/error.h"
#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {
namespace {

Shape add_shape(const Node&, std::span<const Shape> in) {
  if (in[0] != in[1]) throw Error(str("adds ", to_string(in[0]), " and ", to_string(in[1])));
  return in[0];
}

}  // namespace

const Operator& add() {
  static constexpr Operator kAdd = {.name = "add", .inputs = 2, .shape = add_shape};
  return kAdd;
}

}  // namespace hewn::runtime
