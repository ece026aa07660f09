#include "hewn/runtime/node_json.h"
#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {
namespace {

void read_epsilon(const ObjectReader& reader, Node& node) {
  if (!reader.at("epsilon").is_number()) throw reader.bad("\"epsilon\" is not a number");
  node.epsilon = reader.at("epsilon").get<double>();
}

void write_epsilon(const Node& node, Json& json) { json["epsilon"] = node.epsilon; }

}  // namespace

/// Only until export folds it into the layer before it.
const Operator& batch_norm() {
  static constexpr Operator kBatchNorm = {
      .name = "batch_norm", .tensors = Tensors::kFolded, .read = read_epsilon, .write = write_epsilon};
  return kBatchNorm;
}

}  // namespace hewn::runtime
