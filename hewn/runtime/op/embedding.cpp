#include <limits>

#include "hewn/core/error.h"
#include "hewn/runtime/node_json.h"
#include "hewn/runtime/op/operator.h"
#include "hewn/runtime/op/work.h"
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

/// Fields are shared out. NaN stands for values that are not in the table.
template <class Number>
void look_up(const PackedTable& table, const std::vector<Number>& rows, const Work& work, int64_t part,
             int64_t parts) {
  const Range fields = share(work.in.channels, part, parts);
  for (int64_t field = fields.begin; field < fields.end; ++field) {
    const float* from = work.from + (work.in.row(0, 0) + field) * work.columns;
    float* to = work.to + (work.out.row(0, 0) + field * table.width) * work.columns;
    for (int64_t c = 0; c < work.columns; ++c) {
      const int64_t row = table.row(field, from[c]);
      for (int64_t d = 0; d < table.width; ++d) {
        to[d * work.columns + c] = row < 0 ? std::numeric_limits<float>::quiet_NaN()
                                           : kernels::widen(rows[static_cast<size_t>(row * table.width + d)]);
      }
    }
  }
}

void run_embedding(const Work& work, int64_t part, int64_t parts) {
  const PackedTable& table = *work.table;
  if (table.halves.empty()) return look_up(table, table.values, work, part, parts);
  look_up(table, table.halves, work, part, parts);
}

}  // namespace

/// A row of numbers for each field's value; only right behind the input.
const Operator& embedding() {
  static constexpr Operator kEmbedding = {.name = "embedding",
                                          .tensors = Tensors::kTable,
                                          .shape = embedding_shape,
                                          .read = read_embedding,
                                          .write = write_embedding,
                                          .run = run_embedding};
  return kEmbedding;
}

}  // namespace hewn::runtime
