#pragma once

#include <map>
#include <string>
#include <vector>

#include "hewn/io/safetensors.h"
#include "hewn/runtime/model_file.h"

namespace hewn::runtime {

/// Reads what the graph's layers and embeddings need into `model` and checks it against their shapes. A
/// missing bias means zeros, up to `most_zeros` of them, which a small file could else ask for without end.
/// Throws Error for tensors that neither they nor model.arrays use, and for a kind that this version cannot
/// run, by the layer.
void read_layers(const io::SafetensorsFile& file, const std::vector<Shape>& shapes, int64_t most_zeros,
                 ModelData& model);

/// The tensors of a model, as write_safetensors takes them. Views into the model, and into `halves`.
struct LayerTensors {
  std::map<std::string, io::TensorView> views;
  std::vector<std::vector<uint16_t>> halves;  // what is written as bf16
};
LayerTensors layer_tensors(const ModelData& model, io::DType type);

}  // namespace hewn::runtime
