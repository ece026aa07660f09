#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/flow/graph.h"
#include "hewn/io/safetensors.h"

namespace hewn::flow {

/// What a file holds of a graph in bf16; docs/formats.md describes it.

/// Which values and weights are; nothing where none is.
Json halves_json(const Graph& graph);
/// Checks it against the values and constants of the graph, whose sets it fills; throws Error.
void read_halves_json(const nlohmann::json& json, Graph& graph);

/// Views of a weight of bf16 under the names NAME.halves, NAME.dims and, where groups of four zeros are left
/// out, NAME.fours; `kept` owns what they point to.
struct HalfTensors {
  std::vector<uint16_t> halves;
  std::vector<uint8_t> fours;
  Dims dims;
};
void add_half_views(const std::string& name, const Tensor& tensor, std::list<HalfTensors>& kept,
                    std::map<std::string, io::TensorView>& views);

/// The weight that these views are of. Throws Error.
Tensor read_half_views(const std::string& name, const io::SafetensorsFile& file);

}  // namespace hewn::flow
