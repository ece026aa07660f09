#include "hewn/core/error.h"
#include "hewn/runtime/node_json.h"
#include "hewn/runtime/op/operator.h"
#include "hewn/runtime/shapes.h"

namespace hewn::runtime {
namespace {

/// Only the input holds numbers of values: what a layer makes are other numbers.
Shape embedding_shape(const Node& node, std::span<const Shape> in) {
  if (node.inputs[0] != 0) throw Error("stands elsewhere than behind the input");
  if (in[0] != Shape{static_cast<int64_t>(node.vocabularies.size()), 1, 1}) {
    throw Error(str("has ", node.vocabularies.size(), " vocabularies for an input of ", to_string(in[0])));
  }
  for (size_t i = 0; i < node.vocabularies.size(); ++i) {
    if (node.vocabularies[i] < 1 || node.vocabularies[i] > kMaxVocabulary) {
      throw Error(
          str("field ", i, " takes ", node.vocabularies[i], " values, outside 1 to ", kMaxVocabulary));
    }
  }
  return {saturating_product(in[0].channels, node.width), 1, 1};
}

void read_embedding(const ObjectReader& reader, Node& node) {
  node.width = reader.size("width", 1);
  node.vocabularies = reader.sizes("vocabularies", 1);
}

void write_embedding(const Node& node, Json& json) {
  json["width"] = node.width;
  json["vocabularies"] = node.vocabularies;
}

}  // namespace

/// A row of numbers for each field's value; only right behind the input.
const Operator& embedding() {
  static constexpr Operator kEmbedding = {.name = "embedding",
                                          .tensors = Tensors::kTable,
                                          .shape = embedding_shape,
                                          .read = read_embedding,
                                          .write = write_embedding};
  return kEmbedding;
}

}  // namespace hewn::runtime
