#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/flow/graph.h"
#include "hewn/io/safetensors.h"

namespace hewn::flow {

/// What a file holds of a graph in 8 bits; docs/formats.md describes it.

/// How values and weights are held, without the weights' scales; nothing where no value is.
Json bytes_json(const Graph& graph);
/// Checks it against the values and constants of the graph, whose maps it fills; throws Error.
void read_bytes_json(const nlohmann::json& json, Graph& graph);

/// Views of a weight of bytes under the names NAME, NAME.scales and others; `kept` owns what they point to.
struct ByteTensors {
  std::vector<int8_t> bytes;
  std::vector<uint8_t> fours;
  Dims dims;
};
void add_byte_views(const std::string& name, const Tensor& tensor, const WeightBytes& bytes,
                    std::list<ByteTensors>& kept, std::map<std::string, io::TensorView>& views);

/// The weight that these views are of: its numbers, and the scales in `bytes`, whose axis is known. Throws
/// Error.
Tensor read_byte_views(const std::string& name, const io::SafetensorsFile& file, WeightBytes& bytes);

}  // namespace hewn::flow
